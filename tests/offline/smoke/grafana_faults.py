"""What can be wrong with a Grafana: how the stand-in is damaged, which check finds it, and in which words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from signals.dashboards.model import ALERTMANAGER, LOGS, PROMETHEUS, TRACES
from smoke.access.grafana import DEFAULT_PASSWORD
from tests.offline.smoke.fake_grafana import PASSWORD
from tests.offline.smoke.grafana_site import GPUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.offline.smoke.fake_grafana import FakeGrafana

Json = dict[str, Any]


def source(state: FakeGrafana, uid: str) -> Json:
    """A datasource of the stand-in."""
    return next(one for one in state.sources if one["uid"] == uid)


def _gone(state: FakeGrafana) -> None:
    state.sources.remove(source(state, ALERTMANAGER))


def _elsewhere(state: FakeGrafana) -> None:
    source(state, PROMETHEUS)["url"] = "http://old.svc:9090"


def _other_uid(state: FakeGrafana) -> None:
    source(state, LOGS)["uid"] = "P1809F7CD0C75ACF3"


def _other_type(state: FakeGrafana) -> None:
    source(state, LOGS)["type"] = "loki"


def _other_name(state: FakeGrafana) -> None:
    source(state, TRACES)["name"] = "Traces"


def _no_plugin(state: FakeGrafana) -> None:
    state.missing.add("victoriametrics-logs-datasource")


def _store_away(state: FakeGrafana) -> None:
    state.unwell[PROMETHEUS] = "dial tcp: connection refused"


def _proxied_store_away(state: FakeGrafana) -> None:
    state.unwell[ALERTMANAGER] = "bad gateway"


def _database(state: FakeGrafana) -> None:
    state.database = "failing"


def _version(state: FakeGrafana) -> None:
    state.version = "11.5.0"


def _no_version(state: FakeGrafana) -> None:
    state.version = ""


def _anonymous(state: FakeGrafana) -> None:
    state.anonymous = True


def _sign_up(state: FakeGrafana) -> None:
    state.sign_up = True


def old_password(state: FakeGrafana) -> None:
    state.password = PASSWORD[::-1]


def default_password(state: FakeGrafana) -> None:
    state.password = DEFAULT_PASSWORD


def _everything(state: FakeGrafana) -> None:
    state.lets_in = True


def _no_email(state: FakeGrafana) -> None:
    state.email = ""


def _deleted(state: FakeGrafana) -> None:
    del state.boards[GPUS]


def _edited(state: FakeGrafana) -> None:
    panel = next(one for one in state.boards[GPUS].content["panels"] if one["title"] == "Power")
    panel["targets"][0]["expr"] = "sum(node_power)"


def _other_unit(state: FakeGrafana) -> None:
    panel = next(one for one in state.boards[GPUS].content["panels"] if one["title"] == "Power")
    panel["fieldConfig"]["defaults"]["unit"] = "short"


def _other_threshold(state: FakeGrafana) -> None:
    panel = next(one for one in state.boards[GPUS].content["panels"] if one["title"] == "Temperature by node")
    panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1]["value"] = 120


def _older_release(state: FakeGrafana) -> None:
    content = state.boards[GPUS].content
    content["panels"] = [one for one in content["panels"] if one["title"] != "Utilization"]


def _other_marks(state: FakeGrafana) -> None:
    state.boards[GPUS].content["annotations"]["list"].pop()


def _doubled(state: FakeGrafana) -> None:
    state.boards["b1946ac9"] = replace(state.boards[GPUS], folder="", provisioned=False)


def _left_behind(state: FakeGrafana) -> None:
    content = {**state.boards[GPUS].content, "title": "Old nodes"}
    state.boards["plumbline-old-nodes"] = replace(state.boards[GPUS], content=content)


def _wrong_folder(state: FakeGrafana) -> None:
    state.boards[GPUS].folder = "general"


def _own_copy(state: FakeGrafana) -> None:
    state.boards[GPUS].provisioned = False


FAULTS: Final[list[tuple[Callable[[FakeGrafana], None], str, str]]] = [
    (_database, "grafana.health", "Grafana's database: seen failing (HTTP 503); expected ok"),
    (_version, "grafana.health", "Grafana's version: seen 11.5.0; expected 11.6.4"),
    (_no_version, "grafana.health", "Grafana's version: seen none told; expected 11.6.4"),
    (_anonymous, "grafana.closed", "/api/datasources for a stranger: seen HTTP 200; expected HTTP 401"),
    (_anonymous, "grafana.closed", "/ for a stranger: seen HTTP 200; expected HTTP 401, or a redirection to /login"),
    (_anonymous, "grafana.closed", "Grafana's anonymous access: seen anonymousEnabled is True; expected off"),
    (_sign_up, "grafana.closed", "Grafana's sign-up: seen disableUserSignUp is False; expected off"),
    (old_password, "grafana.closed", "of Secret grafana-generated of namespace plumbline is refused for admin"),
    (default_password, "grafana.closed", "the default login: seen accepted; expected HTTP 401"),
    (_everything, "grafana.closed", "the default login: seen accepted; expected HTTP 401"),
    (_everything, "grafana.closed", "a login of nobody: seen accepted; expected HTTP 401"),
    (_no_email, "grafana.closed", "account admin: seen no e-mail address"),
    (_gone, "grafana.datasources", f"datasource A: seen not there; expected uid {ALERTMANAGER}"),
    (_elsewhere, "grafana.datasources", "datasource P: seen url http://old.svc:9090; expected url http://prometheus"),
    (_other_uid, "grafana.datasources", f"datasource L: seen uid P1809F7CD0C75ACF3; expected uid {LOGS}"),
    (_other_type, "grafana.datasources", "datasource L: seen type loki; expected type victoriametrics-logs"),
    (_other_name, "grafana.datasources", "datasource J: seen name Traces; expected name J"),
    (_no_plugin, "grafana.datasources", "datasource L: seen plugin victoriametrics-logs-datasource is not installed"),
    (_store_away, "grafana.datasources", "datasource P: seen HTTP 400: dial tcp: connection refused"),
    (_proxied_store_away, "grafana.datasources", "datasource A: seen HTTP 502"),
    (_deleted, "grafana.boards", "board GPU fleet: seen not there; expected provisioned"),
    (_edited, "grafana.boards", "board GPU fleet: seen another content: panel Power has other queries"),
    (_other_unit, "grafana.boards", "board GPU fleet: seen another content: panel Power has other unit"),
    (_other_threshold, "grafana.boards", "another content: panel Temperature by node has other thresholds"),
    (_older_release, "grafana.boards", "board GPU fleet: seen another content: panel Utilization is missing"),
    (_other_marks, "grafana.boards", "board GPU fleet: seen another content: changed beside its panels"),
    (_doubled, "grafana.boards", "board GPU fleet: seen a second one, uid b1946ac9; expected one of this title"),
    (_left_behind, "grafana.boards", "board Old nodes: seen left of another release, uid plumbline-old-nodes"),
    (_wrong_folder, "grafana.boards", "board GPU fleet: seen in folder general; expected in folder plumbline"),
    (_own_copy, "grafana.boards", "board GPU fleet: seen in the database alone"),
    (_deleted, "grafana.panels", "GPU fleet: Power: seen no such panel in Grafana"),
    (_no_plugin, "grafana.datasources", "expected its plugin"),
]
