"""Configuration: the files in the cluster are those that were rendered, and Prometheus runs what they say."""

from __future__ import annotations

import hashlib
from typing import Any

import yaml

from smoke.judge.prometheus import same_value
from smoke.model import Problem

Json = dict[str, Any]
Files = dict[str, str]
Rules = set[tuple[str, str]]

# It carries the revision, so it cannot be part of it.
SENTINEL_FILE = "rules-sentinel.yml"
REVISION_DIGITS = 12


def digest(files: Files) -> str:
    """Hash of names and contents, as components count it."""
    found = hashlib.sha256()
    for name in sorted(files):
        found.update(f"{name}\0{files[name]}\0".encode())
    return found.hexdigest()[:REVISION_DIGITS]


def revision(files: Files) -> str:
    """The revision of rendered files, as the component counts it: it covers every file but the sentinel."""
    return digest({name: text for name, text in files.items() if name != SENTINEL_FILE})


def as_rendered(files: Files, expected: str, rules: Files, subject: str) -> list[Problem]:
    """The files have the contracted revision. `rules`: rule files as the catalogue gives them, to name what differs."""
    seen = revision(files)
    if seen == expected:
        return []
    changed = [
        f"{name} {'differs' if name in files else 'missing'}" for name in rules if files.get(name) != rules[name]
    ]
    suspects = ", ".join(changed) or f"not by a rule file of the catalogue; it has {', '.join(sorted(files))}"
    return [Problem(subject, f"revision {seen} ({suspects})", f"revision {expected}")]


def runs(files: Files, main: str, running: str, groups: list[Json]) -> list[Problem]:
    """Prometheus runs jobs, retention and rules of these files. main: name of the file that it is started with.

    running: the configuration as it reports it. groups: rule groups as it reports them.
    """
    try:
        wanted, seen = _document(files.get(main, "")), _document(running)
        rules, problems = _rules(files, wanted)
    except ValueError as error:
        return [Problem("configuration", str(error), "YAML as Prometheus reads it")]
    problems += _sets("scrape job", _jobs(seen), _jobs(wanted))
    live = {(str(group["name"]), str(rule["name"])) for group in groups for rule in group.get("rules") or []}
    problems += _sets("rule", _words(live), _words(rules))
    return [*problems, *_retention(_stored(seen), _stored(wanted))]


def _document(text: str) -> Json:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {str(error)[:200]}") from error
    if isinstance(found, dict):
        return found
    raise ValueError("empty or no mapping")


def _rules(files: Files, configuration: Json) -> tuple[Rules, list[Problem]]:
    """(group, rule) of every rule file that the configuration names; a file that is not there is no error to it."""
    found: Rules = set()
    problems = []
    for name in configuration.get("rule_files") or []:
        if name not in files:
            problems.append(Problem(f"rule file {name}", "missing", "there, as the configuration names it"))
            continue
        for group in _document(files[name]).get("groups") or []:
            found |= {(group["name"], rule.get("alert") or rule.get("record")) for rule in group.get("rules") or []}
    return found, problems


def _jobs(configuration: Json) -> set[str]:
    return {str(job["job_name"]) for job in configuration.get("scrape_configs") or []}


def _words(rules: Rules) -> set[str]:
    return {f"{rule} of group {group}" for group, rule in rules}


def _sets(what: str, seen: set[str], wanted: set[str]) -> list[Problem]:
    absent = [Problem(f"{what} {name}", "not running", "running, as configured") for name in sorted(wanted - seen)]
    extra = [Problem(f"{what} {name}", "running", "not configured, so not running") for name in sorted(seen - wanted)]
    return [*absent, *extra]


def _stored(configuration: Json) -> dict[str, str]:
    tsdb = (configuration.get("storage") or {}).get("tsdb") or {}
    return {name: str(value) for name, value in (tsdb.get("retention") or {}).items()}


def _retention(seen: dict[str, str], wanted: dict[str, str]) -> list[Problem]:
    return [
        Problem(f"retention {name}", seen.get(name, "not set"), value)
        for name, value in wanted.items()
        if name not in seen or not same_value(seen[name], value)
    ]
