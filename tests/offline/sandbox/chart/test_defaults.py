"""With default values the chart has the official one's shape; every judge of that sees a changed chart fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.chart import judges
from tests.offline.sandbox.chart.render import CHART, Change, helm, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.offline.sandbox.chart.render import Manifest

    Judge = Callable[[list[Manifest]], Iterator[str]]

POSTGRES = "templates/postgres.yaml"
GATEWAY = "templates/_gateway.tpl"
VECTOR = "templates/vector.yaml"
NAMES = "templates/_names.tpl"
PROCESSES = "templates/_processes.tpl"

# Judge → changes that it must see.
CHANGES: dict[Judge, tuple[Change, ...]] = {
    judges.every_component_has_its_objects: (
        Change(NAMES, '(printf "%s-%s" $full .name)', '(printf "%s-%s-svc" $full .name)'),
        Change("templates/auth.yaml", '{{- include "swanlab', '{{- $_ := include "swanlab'),
        Change("templates/_stores.tpl", '"%s-credentials"', '"%s-secret"'),
    ),
    judges.labels_are_the_official_ones: (
        Change(NAMES, "app.kubernetes.io/provider: swanlab", "app.kubernetes.io/provider: plumbline"),
        Change(NAMES, "app.kubernetes.io/service: {{ .name }}", "app.kubernetes.io/service: {{ .name }}-1"),
        Change(NAMES, '{{ include "swanlab.name" .root }}-{{ .name }}', "{{ .name }}"),
    ),
    judges.ports_are_the_official_ones: (
        Change("templates/server.yaml", '"servicePort" 3000', '"servicePort" 80'),
        Change("templates/next.yaml", '"servicePort" 80', '"servicePort" 3000'),
        Change("templates/cloud.yaml", '"port" 80 ', '"port" 8080 '),
        Change(POSTGRES, "- name: postgres\n              containerPort", "- name: sql\n              containerPort"),
    ),
    judges.containers_are_called_as_their_component: (
        Change("templates/gateway.yaml", "- name: gateway\n", "- name: traefik\n"),
        Change(PROCESSES, "- name: {{ .name }}\n          {{-", "- name: app\n          {{-"),
    ),
    judges.replicas_are_the_official_ones: (
        Change("templates/vector.yaml", "{{ int .Values.vector.replicas }}", "1"),
        Change(POSTGRES, "type: Recreate", "type: RollingUpdate"),
    ),
    judges.only_the_buffer_has_probes: (
        Change(VECTOR, "tcpSocket:\n              port: http", "httpGet:\n              port: http"),
        Change(
            PROCESSES, "args: [{{ .word }}]", "args: [{{ .word }}]\n          readinessProbe: {tcpSocket: {port: 3000}}"
        ),
    ),
    judges.nothing_has_default_resources: (
        Change(
            "templates/_pods.tpl", "{{- with .values.resources }}", '{{- with dict "limits" (dict "memory" "1Gi") }}'
        ),
    ),
    judges.each_waits_for_what_it_needs: (
        Change("templates/house.yaml", " $vector)", ")"),
        Change("templates/_stores.tpl", ".Values.integrations.redis.port 6379", ".Values.integrations.redis.port 6380"),
        Change(PROCESSES, "{{- if .waits }}", "{{- if false }}"),
    ),
    judges.buffer_keeps_its_claims: (
        Change(VECTOR, "name: data\n      spec", "name: buffer\n      spec"),
        Change(VECTOR, '  serviceName: {{ include "swanlab.component.fullname" $component }}\n', ""),
        Change(VECTOR, "mountPath: /data", "mountPath: /buffer"),
        Change("values.yaml", "storageSize: 40Gi", "storageSize: 60Gi"),
    ),
    judges.stores_are_on_their_claims: (
        Change(POSTGRES, "mountPath: /var/lib/postgresql/data", "mountPath: /var/lib/postgresql"),
        Change(POSTGRES, "value: /var/lib/postgresql/data", "value: /var/lib/postgresql/14"),
        Change("templates/redis.yaml", '{{ include "swanlab.claimName" $component }}', "cache"),
        Change("templates/redis.yaml", "mountPath: /data", "mountPath: /var/lib/redis"),
        Change("values.yaml", "storageSize: 20Gi", "storageSize: 21Gi"),
    ),
    judges.credentials_fall_back_to_fixed_ones: (
        Change(POSTGRES, 'default "swanlab-postgres"', "default (randAlphaNum 20)"),
        Change("templates/clickhouse.yaml", 'default "swanlab" ', 'default "default" '),
        Change("templates/s3.yaml", 'default "swanlab-s3"', 'default "swanlab"'),
        Change("templates/redis.yaml", "redis://default@%s", "redis://%s"),
    ),
    judges.processes_understand_their_environment: (
        Change(VECTOR, "{{ int64 .Values.vector.sinks", "{{ .Values.vector.sinks"),
        Change("values.yaml", "bufferMaxSize: 10737418240", "bufferMaxSize: 1073741824"),
        Change(PROCESSES, "- name: VECTOR_URL", "- name: BUFFER_URL"),
        Change(PROCESSES, "- name: S3_ENDPOINT", "- name: S3_URL"),
        Change(PROCESSES, "value: {{ .port | quote }}", "value: x"),
        Change("values.yaml", "flushSeconds: 5 ", "flushSeconds: 6 "),
    ),
    judges.gateway_has_the_official_routes: (
        Change(GATEWAY, '"/api/house" (include', '"/house" (include'),
        Change(GATEWAY, '(list . "auth" 3000)', '(list . "server" 3000)'),
        Change(
            GATEWAY, "location ^~ /api/internal {\n      return 403", "location ^~ /api/internal {\n      return 404"
        ),
        Change(GATEWAY, "location ^~ /api/house/internal", "location ^~ /api/housing/internal"),
        Change(GATEWAY, "client_max_body_size 0;", "client_max_body_size 1m;"),
        Change(GATEWAY, "proxy_set_header Host $http_host;", "proxy_set_header Host $proxy_host;"),
        Change(GATEWAY, "proxy_pass $upstream;\n}\n{{- end -}}", "proxy_pass {{ index . 1 }};\n}\n{{- end -}}"),
        Change(GATEWAY, "location = /ping", "location = /healthz"),
    ),
}


@pytest.fixture(scope="module")
def rendered() -> list[Manifest]:
    """Every object of the release with default values."""
    return render()


@pytest.mark.parametrize("judge", CHANGES, ids=lambda judge: judge.__name__)
def test_default_values_keep_what_is_known_of_the_official_chart(judge: Judge, rendered: list[Manifest]) -> None:
    assert list(judge(rendered)) == []


@pytest.mark.parametrize(
    ("judge", "change"),
    [(judge, change) for judge, changes in CHANGES.items() for change in changes],
    ids=lambda part: getattr(part, "__name__", None) or f"{part.file}:{part.old[:24].strip()}",
)
def test_changed_chart_is_seen(judge: Judge, change: Change, tmp_path: Path) -> None:
    assert list(judge(render(chart=change.applied(tmp_path)))) != []


def test_chart_passes_helms_own_linter() -> None:
    done = helm("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout


def test_helms_own_linter_sees_a_chart_without_a_name(tmp_path: Path) -> None:
    assert (
        helm("lint", "--strict", str(Change("Chart.yaml", "name: self-hosted\n", "").applied(tmp_path))).returncode != 0
    )
