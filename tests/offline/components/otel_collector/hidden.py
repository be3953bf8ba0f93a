"""What people found in clear, by place, of which X or the form must not arrive; and what must arrive as it is."""

from __future__ import annotations

from typing import Any, Final

X: Final = "Zx9qLeak7"

TEXTS: Final = (
    # Assignments.
    *(f"Server=db;Uid=sa;Pwd={X};", f"pwd={X}", f"DB_PASS={X} ok", f"smtp_pass: {X}", f"password=b'{X}'"),
    *(f"password=SecretStr('{X}')", f'Config {{ password: Some("{X}") }}', f'password = """{X}"""'),
    *(f"'{{\\'password\\': \\'{X}\\', \"a\": 1}}'", f"<password>{X}</password>", f"password%3D{X}", f"password:{X}"),
    *(f"AZURE_STORAGE_KEY={X}", f"AES_KEY={X}", f"password: {X}", f"login failed, password: {X}."),
    *(f"MY_APP_TOKEN={X}abc", f"DISCORD_TOKEN={X}abcdef", f"GH_TOKEN={X}abcdef", f'"my_token": "{X}abcdef"'),
    *(f'{{"idToken": "{X}abcdef"}}', f"token: {X}abcdef"),
    "db:\n  password: letmein\n".replace("letmein", X.replace("9", "n").replace("7", "s")),
    # In brackets.
    *(f"non-default args: {{'api_key': ['{X}'], 'port': 8000}}", f'{{"X-Api-Key":["{X}"]}}'),
    *(
        f'{{"password": {{"value": "{X}"}}}}',
        f'{{"secret": {{"a": {{"b": 1}}, "c": "{X}"}}}}',
        f"cookies={{'s': '{X}'}}",
    ),
    *(f'{{"cookies": {{"sid": "{X}"}}}}', f"map[Authorization:[Token {X}] X:[1]]"),
    # Headers.
    *(f"Authorization: Token {X}", f"Authorization: ApiKey {X}", f"Authorization: Negotiate YII{X}"),
    f'Authorization: Digest username="bob", realm="r", response="{X}"',
    f"Authorization: AWS4-HMAC-SHA256 Credential=x/20260101, SignedHeaders=host, Signature={X}",
    *(f'{{"Authorization": ["Token {X}"], "a": 1}}', f"Cookie=a=b; session={X}", f"Cookie: a=b; session={X}"),
    # Options.
    *(f"vllm serve m --api-key {X} --port 8000", f"mysql --password {X} -h db", f"login --token={X}"),
    f"argv: ['serve', '--api-key', '{X}']",
    # Contents.
    f"Generated response chatcmpl-1: output: '{X} answer', output_token_ids: None, finish_reason: stop",
    *(f'{{"model":"m","input":"{X} me"}}', f"{{'input': '{X}'}}", f"input='{X} me'", f'{{"output": "{X}"}}'),
    *(f'"inputText": "{X} hello"', f'"prompt_text": "{X} hello"', f"prompts: ['{X}', 'b']", f"inputs=['{X}']"),
    *(f'prompt="""{X}"""', f'{{"choices":[{{"index":0,"text":"{X}"}}]}}'),
    *(f'{{"messages": [{{"content": [{{"text": "a ] b"}}, {{"text": "{X}"}}]}}]}}', f'{{"prompt": ["a", "{X}'),
    f"Receive: obj=GenerateReqInput(rid='1', text='{X} me', input_ids=[15496])",
    f"Finish: obj=..., out={{'text': ' {X}', 'meta_info': {{'id': '1'}}}}",
    # Addresses.
    *(f"sig={X}&se=2026", f"X-Amz-Signature={X}&X-Amz-Date=1", f"https://x/?a=1&X-Goog-Signature={X}"),
    *(f"https://x/?a=1&x-oss-signature={X}", f"https://x/?a=1&q-signature={X}", f"https://x/?a=1&amp;sig={X}"),
    *(f"app:{X}@tcp(db:3306)/x", f"curl -u user:{X} http://x", f"postgres://app:hun/{X}@db/x"),
    f"postgres://app:p@{X}@db/x",
    # Environments.
    f"environ({{'PATH': '/bin', 'HOME': '/root', 'NAME': '{X}', 'LANG': 'C'}})",
    f"export PATH=/bin\nexport HOME=/root\nexport LANG=C\nexport NAME={X}\nexport X1=y",
    *(f"PATH=/bin\0HOME=/root\0LANG=C\0NAME={X}\0XX=y", f"AB=1 CD=2 EF=3 NAME={X} PATH=/bin"),
    *(f'{{"PATH":"/bin","HOME":"/root","NAME":"{X}"}}', f'"env":[{{"name":"DB_PASSWORD","value":"{X}"}}]'),
)
FORMS: Final = (
    *("xapp-1-A012-345-abcdef0123456789", "https://hooks.slack.com/services/T0001/B0001/abcdefXYZ123456789012345"),
    *("npm_abcdefghijklmnopqrstuvwxyz0123456789", "pypi-AgEIcHlwaS5vcmcCJGFiY2RlZg12345"),
    *("nvapi-abcdefghijklmnopqrstuvwxyz0123456789abcdef", "api_org_abcdefghijklmnopqrstuvwxyzABCDEFGH"),
    *("glrt-abcdefghijklmnopqrst", "gldt-abcdefghijklmnopqrst", "gsk_abcdefghijklmnopqrstuvwxyz0123456789"),
    *("r8_abcdefghijklmnopqrstuvwxyz0123456789", "GOCSPX-abcdefghijklmnopqrstuvwxyz12"),
    *("hvs.CAESIabcdefghijklmnopqrstuvwxyz012345", "dckr_pat_abcdefghijklmnopqrstuvwxyz1"),
    *("AKLTabcdefghijklmnopqrstuvwxyz012345", "ABSKQmVkcm9ja0FQSUtleS1abcdefghijklmnop"),
    *("whsec_abcdefghijklmnopqrstuvwxyz012345", "glsa_abcdefghijklmnopqrstuvwxyz012345_12345678"),
    *("wandb_v1_abcdefghijklmnopqrstuvwxyz0123456789", "lsv2_pt_abcdefghijklmnopqrstuvwxyz012345_1234567890"),
    *("key_AKIAIOSFODNN7EXAMPLE", "token_ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x_sk-proj-abcdefghijklmnopqrst"),
    *("v1_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123", "sk-ant-api03-x9-AbCdEf-GhIjKlMnOpQrStUvWxYz01"),
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGleak\n-----END PGP PRIVATE KEY BLOCK-----",
    *("+33 6 12 34 56 78", "+61 2 9374 4000", "+31 6 12345678", "+4917012345678", "+1 (713) 555-1212", "713-555-1212"),
    *("4111.1111.1111.1111", "card_4111111111111111", "30569309025904", "4096 1234 1234 1234", "5500-0055-5555-5559"),
    "123-45-6789",
)
"""Secrets by their form, alone and within a sentence."""

ATTRIBUTES: Final[tuple[dict[str, Any], ...]] = (
    *({"input": [X]}, {"gen_ai.input": [{"role": "user", "content": [{"type": "text", "text": X}]}]}),
    *({"content": [{"type": "text", "text": X}]}, {"output.value": [X]}, {"input.value": {"q": X}}),
    *(
        {"outputs": {"text": X}},
        {"inputs": [{"text": X}]},
        {"instructions": [X]},
        {"contents": [{"parts": [{"text": X}]}]},
    ),
    *({"gen_ai.system_instructions": [{"type": "text", "text": X}]}, {"system_instruction": {"parts": [{"text": X}]}}),
    *({"traceloop.entity.output": {"a": [X]}}, {"mlflow.spanInputs": [X]}, {"mlflow.spanOutputs": {"a": X}}),
    *({"output_text": [X]}, {"request_body": [X]}, {"response.body": {"a": X}}, {"http.request.body.text": X}),
    *({"token": [X]}, {"http.request.header.token": [X]}, {"http.request.header.x-subject-token": [X]}),
    *({"pwd": [X]}, {"envs": [f"A={X}"]}, {"auth": ["x", X]}, {"auth": {"user": "x", "pass": X}}, {"db.pass": X}),
    *(
        {"smtp_pass": X},
        {"basicAuth": X},
        {"subscription_key": X},
        {"api key": X},
        {"private key": X},
        {"token_value": X},
    ),
    *({"http.request.header.ocp-apim-subscription-key": [X]}, {"process.command_args": ["vllm", "--api-key", X]}),
    *({"process.command_line": f"vllm serve --api-key {X}"}, {"ai.toolCall.args": f'{{"q":"{X}"}}'}),
    *(
        {"ai.toolCall.result": X},
        {"ai.response.toolCalls": f'[{{"args":"{X}"}}]'},
        {"userInput": X},
        {"modelOutput": X},
    ),
    *({"gen_ai.choice.0.text": X}, {"choices": [{"text": X}]}, {"embedding.text": X}, {"arguments": {"q": X}}),
    *(
        {"tool_calls": [{"name": "f", "input": {"q": X}}]},
        {"db.operation.parameter.0": X},
        {"url.query": f"sig={X}&a=1"},
    ),
    *({"environment": {"FOO": X}}, {"process.environment": {"FOO": X}}, {"process_env": {"FOO": X}}),
    *({"userPhone": f"030{X}"}, {"customer.tel": X}, {"mobile": X}, {"contact_number": X}),
    {"dsn": f"app:{X}@tcp(db:3306)/x"},
    # In lists, and where two names spell alike.
    *({"tel": [X]}, {"db_pass": [X]}, {"auth": {"header": [X]}}, {"tool_calls": [X]}, {"token_value": [X]}),
    *({"mobile": [X]}, {"contact_number": [X]}, {"choices.text": [X]}, {"embedding.text": [X]}, {"fax": [X]}),
    *({"a": {name: X}, f"a.{name}": X} for name in ("tel", "db_pass", "password", "prompt", "tool_calls", "token")),
    # In names.
    *({f"password={X}": "y"}, {f"in.password={X}": 1}, {f"DB_PASS = {X}": "y"}, {f"a=b&password={X}": "y"}),
    *({f"https://x/?sig={X}": 1}, {f"--api-key={X}": "y"}, {f"MY_TOKEN={X}abc": "y"}, {f"prompt='{X} me'": "y"}),
    *({f"Cookie: a=b; s={X}": "y"}, {f"PATH=/bin HOME=/root NAME={X} LANG=C": "y"}, {f"password={X}": {"deep=er": 1}}),
    {f"a=b <password>{X}</password>": "y"},
)
CARDS: Final[tuple[dict[str, Any], ...]] = (
    *({"card_number": 30569309025904}, {"card.value": 4111111111111111}, {"http.request.x": 4111111111111111}),
    *({"number": [4111111111111111]}, {"input.card": 4111111111111111}, {"amount": 4111111111111111.0}),
)
"""Numbers that must not arrive."""

ORDINARY_TEXTS: Final = (
    *("loss=0.4123456789012345 lr=0.0001", "step 10 loss 0.5234567890123456", "{'loss': 0.2345678901234567}"),
    *("grad_norm: 0.371234567890123", "eval 1.4567890123456789", "shape 512 512 1024", "status 200 345 1234"),
    *("took 345.678 1234 tokens", "shard-001-02-0003 read", "job train-123-45-6789 done", "flops 3.2e+15 1024 4096"),
    *("memory grew +12345678 bytes", "image app:1.2.3+20260115", "offset +1234567 ns", "4096 4096 4096 4096"),
    *("5120-5120-5120-5120", "uid 41234567-8901-4345-8901-abcdefabcdef", "11:10:05 +1000 200 1532 0.1"),
    *("Unexpected token: punctuation at 3", "invalid token: unexpected end of JSON", "cookie: parse error at byte 3"),
    *("failed to sync secret: timed out waiting", "authorization: permission denied for pod x"),
    *("Bearer authentication failed", "no credential: using default", "job completion: Succeeded pods=3"),
    *(
        "prompt=None, error=OOM rank=3",
        "time to completion: about 3h",
        "pulled digest 9f86d081884c7d659a2feaa0c55ad015",
    ),
    *("session_token=None", "use_auth_token=False", "authorization=false latency=3", "token: expired yesterday"),
    *("TP=8 PP=4 DP=2 EP=1", "RANK=0 WORLD_SIZE=8 LOCAL_RANK=0 MASTER_PORT=29500"),
    "IN=eth0 OUT= SRC=10.0.0.1 DST=10.0.0.2 LEN=60 PROTO=TCP",
    *("unit getty@tty1.service failed", "user@1000.service", "git@github.com:org/repo.git", "malloc@libc.so.6"),
    *("sk-learn-model-v2-large-2026", "model sk-abcdefghij-klmnop", "time_to_first_token: 0.0412345678"),
    *("time_to_first_token=0.0412345678", "docker://registry:5000/team/image@sha256:9f86d081"),
    "--max-tokens 512 --tokenizer /models/llama-3",
)
ORDINARY_ATTRIBUTES: Final[tuple[dict[str, Any], ...]] = (
    *({"reserved": 8589934592}, {"allocated": "8589934592"}, {"gpuMemoryUsed": 8589934592}, {"vram": [8589934592]}),
    *({"heap": 13421772800}, {"rss": 2345678901}, {"nbytes": 2345678901}, {"nccl.bytesSent": 2345678901}),
    *({"requests": 2345678901}, {"pipeline_id": 2345678901}, {"slurm_job": 2345678901}, {"peak": 2345678901.0}),
    *({"span_id": "4123456789012345"}, {"run_id": "4123456789012345"}, {"git_commit": "4123456789012345"}),
    *({"service.instance.id": "4123456789012345"}, {"k8s.pod.uid": "41234567-8901-4345-8901-abcdefabcdef"}),
    *({"k8s.pod.name": "train-123-45-6789"}, {"host.name": "node-300-400-5000"}, {"loss": "0.4123456789012345"}),
    *({"k8s.secret.name": "db-creds"}, {"prompt_version": "v3"}, {"gen_ai.prompt.name": "greeting"}),
    *({"prompt_tokens": "17"}, {"prompt_bucket": "1k-4k"}, {"deployment.env.name": "prod"}, {"auth.key_count": 3}),
    *({"password_set": True}, {"cookie_count": 3}, {"gen_ai.token.type": "input"}, {"gen_ai.output.type": "text"}),
    *(
        {"model": "sk-learn-model-v2-large-2026"},
        {"deployment.environment.name": "testing"},
        {"http.request.body.size": 7},
    ),
    *({"a=b": "THEVALUE"}, {"DB=1": "x"}, {"url?page=2": "x"}, {"=": "x"}, {"loss=mse": 0.5}, {"=log.body": "x"}),
)
