"""Tools executed by another system, with nothing but Python's standard library. Start a server first: npx handback dev"""

import json
import os
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("HANDBACK_URL", "http://127.0.0.1:4242")
THREAD = f"py-{uuid.uuid4()}"


def get_menu(category):
    return {"category": category, "menu": [{"name": "美式咖啡", "price": 25}]}


TOOLS = {"get_menu": get_menu}


def ask(method, path, body=None, key=None):
    headers = {"content-type": "application/json", **({"idempotency-key": key} if key else {})}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(URL + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        refused = json.load(error)  # { "success": false, "error": …, "code": … }
        raise SystemExit(f"{error.code} {refused['code']}: {refused['error']}")


asked = ask(
    "POST",
    "/chat",
    {
        "threadId": THREAD,
        "message": "the coffee menu, please",
        "toolExecutionConfig": {"mode": "outside", "outsideConfig": {"timeout": 60000}},
    },
    key=str(uuid.uuid4()),
)
print(asked["data"]["content"])

answer = ""
for call in ask("GET", f"/chat/pending-tools/{THREAD}")["data"]["pendingToolCalls"]:
    try:
        result = {"success": True, "data": TOOLS[call["name"]](**call["args"])}
    except Exception as error:
        result = {"success": False, "error": str(error)}
    done = ask("POST", "/chat/tool-result", {"threadId": THREAD, "toolCallId": call["id"], "toolResult": result}, key=call["id"])
    answer = done["data"]["agentResponse"]["content"]
print(answer)
assert "美式咖啡" in answer
