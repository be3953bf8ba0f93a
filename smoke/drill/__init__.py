"""What a restore drill writes into SwanLab before a restore, and reads after it."""
