"""The manifests: they fit Kubernetes' schemas, and agree with the compose file, the settings and the commands."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from runtime.service_settings import WebSettings
from tests.cli.click_commands import parsed
from tests.docker.test_compose import OURS, environment_of

FOLDER = Path(__file__).parents[2] / "docker" / "kubernetes"
DOCUMENTS = [each for file in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(file.read_text())]
VERSIONS = ("1.29", "1.34")
"""The oldest and the newest release of Kubernetes that the manifests are for."""
STARTING = {"Deployment", "Job"}


def name_of(document):
    return f"{document['kind']}/{document['metadata']['name']}"


BY_NAME = {name_of(each): each for each in DOCUMENTS}
PODS = {name: each["spec"]["template"] for name, each in BY_NAME.items() if each["kind"] in STARTING}
OUR_PODS = {name: pod for name, pod in PODS.items() if "steelyard" in pod["spec"]["containers"][0]["image"]}
SERVED = {name: pod for name, pod in OUR_PODS.items() if name.startswith("Deployment/")}


def environment(pod):
    """What a container of the pod finds in its environment."""
    (container,) = pod["spec"]["containers"]
    found = {}
    for source in container["envFrom"]:
        kind, reference = ("ConfigMap", "configMapRef") if "configMapRef" in source else ("Secret", "secretRef")
        document = BY_NAME[f"{kind}/{source[reference]['name']}"]
        found |= document["data"] if kind == "ConfigMap" else document["stringData"]
    return found | {each["name"]: each["value"] for each in container.get("env", [])}


def test_nothing_is_defined_twice():
    assert len(BY_NAME) == len(DOCUMENTS)
    assert set(OUR_PODS) == {
        "Job/migrate", "Deployment/scheduler", "Deployment/web", "Deployment/worker", "Deployment/learned-worker",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BY_NAME)
def test_manifests_fit_the_schemas(name, version):
    kubernetes_validate.validate(BY_NAME[name], version, strict=True)


def test_the_schemas_find_faults():
    broken = yaml.safe_load(yaml.safe_dump(BY_NAME["Deployment/worker"]))
    broken["spec"]["replica"] = broken["spec"].pop("replicas")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("name", OUR_PODS)
def test_settings_and_commands_exist(name, monkeypatch):
    given = environment(OUR_PODS[name])
    for variable, value in given.items():
        assert isinstance(value, str), f"{variable}: a variable is a text"
        if variable.startswith("STEELYARD_"):
            assert variable.removeprefix("STEELYARD_").lower() in WebSettings.model_fields
        monkeypatch.setenv(variable, value)
    assert not WebSettings().embedded
    parsed(OUR_PODS[name]["spec"]["containers"][0]["args"])


@pytest.mark.parametrize("name", ["scheduler", "worker", "web"])
def test_they_are_set_up_as_by_compose(name):
    here, there = environment(OUR_PODS[f"Deployment/{name}"]), environment_of(name)
    # Addresses, and what is only asked for in one of them.
    own = {"STEELYARD_DATABASE_URL", "STEELYARD_CONCURRENCY", "PGPASSWORD", "STEELYARD_SIGN_UP"}
    differing = {"STEELYARD_PUBLIC_URL", "STEELYARD_TRUSTED_PROXIES", "STEELYARD_MAIL_FROM"}
    assert set(here) - own - differing - {"STEELYARD_MAIL_URL"} == set(there) - own - differing - {"STEELYARD_MAIL_URL"}
    for variable in set(here) & set(there) - own - differing:
        assert here[variable] == there[variable], variable
    assert OUR_PODS[f"Deployment/{name}"]["spec"]["containers"][0]["args"] == OURS[name]["command"]


@pytest.mark.parametrize("name", SERVED)
def test_probes_ask_where_health_is_served(name):
    pod = SERVED[name]
    (container,) = pod["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    given = environment(pod)
    assert str(ports["health"]) == given["STEELYARD_HTTP_PORT"] == pod["metadata"]["annotations"]["prometheus.io/port"]
    assert given["STEELYARD_HTTP_HOST"] == "0.0.0.0"
    if "pages" in ports:
        assert (str(ports["pages"]), given["STEELYARD_WEB_HOST"]) == (given["STEELYARD_WEB_PORT"], "0.0.0.0")
    probes = {"startupProbe": "/health/live", "livenessProbe": "/health/live", "readinessProbe": "/health/ready"}
    for probe, path in probes.items():
        assert container[probe]["httpGet"] == {"path": path, "port": "health"}


def test_a_stopped_worker_has_time_to_finish():
    grace = PODS["Deployment/worker"]["spec"]["terminationGracePeriodSeconds"]
    assert grace > WebSettings.model_fields["task_seconds"].default
    for name in ("Deployment/web", "Deployment/learned-worker", "Deployment/scheduler"):
        assert PODS[name]["spec"]["terminationGracePeriodSeconds"] > WebSettings.model_fields["stop_seconds"].default


@pytest.mark.parametrize("name", PODS)
def test_pods_may_do_nothing_special(name):
    pod = PODS[name]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }  # fmt: skip
        assert "memory" in container["resources"]["limits"]
    if name in OUR_PODS:
        assert pod["securityContext"]["runAsUser"] == 10001
        assert {"name": "scratch", "mountPath": "/tmp"} in pod["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("name", SERVED)
def test_resources_are_where_the_settings_say(name):
    pod = SERVED[name]["spec"]
    mounts = {each["name"]: each["mountPath"] for each in pod["containers"][0]["volumeMounts"]}
    assert mounts["resources"] == environment(SERVED[name])["STEELYARD_RESOURCE_FOLDER"]
    (claim,) = (each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if each["name"] == "resources")
    assert f"PersistentVolumeClaim/{claim}" in BY_NAME


def test_processes_of_a_worker_have_a_processor_each():
    worker = PODS["Deployment/worker"]
    limit = worker["spec"]["containers"][0]["resources"]["limits"]["cpu"]
    assert environment(worker)["STEELYARD_CONCURRENCY"] == limit


def matching(selector):
    """The pods that a selector selects."""

    def selected(labels):
        wanted = selector.get("matchLabels", {})
        expressions = selector.get("matchExpressions", [])
        return all(labels.get(key) == value for key, value in wanted.items()) and all(
            each["operator"] == "In" and labels.get(each["key"]) in each["values"] for each in expressions
        )

    return {name for name, pod in PODS.items() if selected(pod["metadata"]["labels"])}


def test_selectors_select_what_they_are_for():
    for name, document in BY_NAME.items():
        kind, _, own = name.partition("/")
        if kind == "Deployment":
            assert matching(document["spec"]["selector"]) == {name}
        elif kind == "Service":
            assert matching({"matchLabels": document["spec"]["selector"]}) == {f"Deployment/{own}"}
        elif kind == "PodDisruptionBudget":
            assert matching(document["spec"]["selector"]) == {f"Deployment/{own}"}
        elif kind == "HorizontalPodAutoscaler":
            assert f"Deployment/{document['spec']['scaleTargetRef']['name']}" in BY_NAME
    policies = {
        name.partition("/")[2]: matching(each["spec"]["podSelector"])
        for name, each in BY_NAME.items()
        if each["kind"] == "NetworkPolicy"
    }
    assert policies == {
        "nobody-comes-in": set(PODS),
        "pages": {"Deployment/web"},
        "health-and-metrics": set(OUR_PODS),
        "redis": {"Deployment/redis"},
        "workers-go-nowhere-else": {"Deployment/worker", "Deployment/learned-worker", "Job/migrate"},
    }
    (target,) = BY_NAME["Service/redis"]["spec"]["ports"]
    assert f"redis://redis:{target['port']}/" in environment(PODS["Deployment/worker"])["STEELYARD_BROKER_URL"]


def test_every_process_reaches_the_collector_of_traces():
    (url,) = re.findall(r"# STEELYARD_TRACES_URL: (\S+)", (FOLDER / "10-settings.yaml").read_text())
    _, namespace = urlsplit(url).hostname.split(".")
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    policies = [each["spec"] for each in BY_NAME.values() if each["kind"] == "NetworkPolicy"]
    for name in OUR_PODS:
        for policy in policies:
            if "Egress" in policy["policyTypes"] and name in matching(policy["podSelector"]):
                assert {"to": [monitoring], "ports": [{"port": urlsplit(url).port}]} in policy["egress"], name
