"""Whether the restored copies of one point fit together: what one store refers to is in the other one."""
