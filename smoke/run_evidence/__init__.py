"""What the infrastructure did to a training run: in one step, over its life, or by one alert.

`facts` are plain records, `read_*` fill them from the stack's stores, `judge_*` come to findings without asking
anybody, `report` puts them on paper. Names of what is looked at are those of the catalogue and of the identity of pods;
what a run must log for it is in docs/evidence.md.
"""
