"""The files of deploy/: the unit, the manifests, the package. What cannot be tried here is skipped.

Usage: deploy.py PROGRAM MODELS [BUILD_DIRECTORY]. HAProxy has a test of its own. Exits with 77 if
all was skipped.
"""
import importlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request

SKIPPED = 77
DEPLOY = pathlib.Path(__file__).parents[1] / "deploy"


class Skip(Exception):
    pass


def need_command(name):
    if not shutil.which(name):
        raise Skip(f"the command {name} is not installed")


def need_module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skip(str(error)) from error


def output_of(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def entrypoint():
    """The words of the image's command."""
    text = (DEPLOY / "Containerfile").read_text()
    return json.loads(re.search(r"ENTRYPOINT (\[.*\])", text)[1])


def unit(program, _):
    """systemd knows each setting, and finds that little is exposed."""
    need_command("systemd-analyze")
    text = (DEPLOY / "polychron-server.service").read_text()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "polychron-server.service"
        file.write_text(text.replace("/usr/bin/polychron-server", program))
        # The pages of the package are not here.
        said = output_of("systemd-analyze", "verify", "--man=no", file)
        complaints = [line for line in said.splitlines() if "polychron-server.service" in line]
        assert not complaints, complaints
        output_of("systemd-analyze", "security", "--offline=yes", "--threshold=15", file)


def options(program, _):
    """The program knows every option that the unit, the image and the manifest give it."""
    output_of(program, *entrypoint()[1:], "--version")
    command = re.search(r"ExecStart=\S+ (.*)", (DEPLOY / "polychron-server.service").read_text())[1]
    output_of(program, *shlex.split(command.replace("$POLYCHRON_OPTIONS", "")), "--version")
    yaml = need_module("yaml")
    for document in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()):
        if document["kind"] == "Deployment":
            for container in document["spec"]["template"]["spec"]["containers"]:
                output_of(program, *entrypoint()[1:], *container["args"], "--version")


def kubernetes(_program, _models):
    """The manifests have the fields, and no others, that Kubernetes' schemas have."""
    yaml = need_module("yaml")
    validate = need_module("kubernetes_validate")
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    assert {each["kind"] for each in documents} == {"Deployment", "Service"}
    for document in documents:
        try:
            validate.validate(document, validate.latest_version(), strict=True)
        except validate.ValidationError as error:
            raise AssertionError(f"{document['kind']}: {error.message}") from None
    # The service reaches ports that the container names.
    deployment, service = documents
    container, = deployment["spec"]["template"]["spec"]["containers"]
    assert {each["targetPort"] for each in service["spec"]["ports"]} <= \
        {each["name"] for each in container["ports"]}


def kserve(program, models):
    """The runtime's command serves what KServe mounts, under the name of the service."""
    yaml = need_module("yaml")
    runtime = next(yaml.safe_load_all((DEPLOY / "kserve.yaml").read_text()))
    container, = runtime["spec"]["containers"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "mounted").mkdir()
        shutil.copy(pathlib.Path(models) / "simple.onnx", folder / "mounted" / "model.onnx")
        script, = container["args"]
        # The text, except for what belongs to the container: its folders, address, ports and path.
        for old, new in {"{{.Name}}": "example", "/mnt/models": f"{folder}/mounted",
                         "/tmp/models": f"{folder}/served", "0.0.0.0": "127.0.0.1", "8080": "0",
                         "8081": "0", "--notice 5": "--notice 0",
                         "polychron-server ": shlex.quote(program) + " "}.items():
            assert old in script, f"the command has no {old}"
            script = script.replace(old, new)
        server = subprocess.Popen([*container["command"], script], stderr=subprocess.PIPE,
                                  text=True)
        try:
            text = ""
            while not ("loaded" in text and (found := re.search(r"serving (http://\S+)", text))):
                line = server.stderr.readline()
                assert line, f"the server ended: {text}"
                text += line
            with urllib.request.urlopen(f"{found[1]}/v2/models/example") as answer:
                assert answer.status == 200
        finally:
            server.terminate()
            server.stderr.read()
            assert server.wait() == 0


def package(program, _):
    """The Debian package has what it should, and its program starts."""
    if len(sys.argv) < 4:
        raise Skip("no build directory was given")
    need_command("dpkg-deb")
    build = pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        output_of("cpack", "--config", build / "CPackConfig.cmake", "-B", folder)
        file, = pathlib.Path(folder).glob("polychron-server_*.deb")
        assert "libpolychron0 (= " in output_of("dpkg-deb", "--field", file, "Depends")
        root = pathlib.Path(folder) / "root"
        output_of("dpkg-deb", "-x", file, root)
        for name in ("lib/systemd/system/polychron-server.service",
                     "share/doc/polychron-server/serving.md",
                     "share/doc/polychron-server/examples/haproxy.cfg"):
            assert (root / "usr" / name).is_file(), name
        unit = (root / "usr/lib/systemd/system/polychron-server.service").read_text()
        documentation = re.search(r"Documentation=file:(\S+)", unit)[1]
        assert (root / documentation.lstrip("/")).is_file(), documentation
        libraries = re.findall(r"=> (\S+)/libpolychron", output_of("ldd", program))
        output_of(root / "usr/bin/polychron-server", "--version",
                  env={"LD_LIBRARY_PATH": ":".join(libraries)})


def main():
    program, models = sys.argv[1:3]
    passed, failed = 0, 0
    for test in (unit, options, kubernetes, kserve, package):
        try:
            test(program, models)
            print("passed:", test.__name__)
            passed += 1
        except Skip as reason:
            print(f"SKIPPED {test.__name__}: {reason}")
        except AssertionError as failure:
            print(f"failed: {test.__name__}: {failure}")
            failed += 1
    sys.exit(1 if failed else 0 if passed else SKIPPED)


main()
