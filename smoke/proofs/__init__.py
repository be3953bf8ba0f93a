"""Proofs that take longer than a check should wait: begun early, moved on between checks, judged at the end.

Nothing runs beside the checks: a proof is a list of stages, and each attempt tries the stage that is due. What a proof
writes carries LABEL or JOB, is removed by its own end, and a killed run's remains by the next run's begin.
"""
