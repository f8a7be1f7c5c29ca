#!/bin/sh
# Tools executed by another system, with nothing but curl. Start a server first: npx handback dev
set -eu
url=${HANDBACK_URL:-http://127.0.0.1:4242}
thread="curl-$$-$(date +%s)"

# 1. Say something; calls are for us to execute.
curl -sS --fail-with-body "$url/chat" -H 'content-type: application/json' -H "idempotency-key: $thread-1" -d '{
  "message": "the coffee menu, please",
  "threadId": "'"$thread"'",
  "toolExecutionConfig": { "mode": "outside", "outsideConfig": { "timeout": 60000 } }
}'
echo

# 2. What is there to do?
pending=$(curl -sS --fail-with-body "$url/chat/pending-tools/$thread")
echo "$pending"
echo "$pending" | grep -q '"name":"get_menu"'

# 3. Hand the result back and hear what the agent makes of it. Without a toolCallId it answers the first call that waits.
answer=$(curl -sS --fail-with-body "$url/chat/tool-result" -H 'content-type: application/json' -H "idempotency-key: $thread-2" -d '{
  "threadId": "'"$thread"'",
  "toolResult": { "success": true, "data": { "menu": [{ "name": "美式咖啡", "price": 25 }] } },
  "success": true,
  "metadata": { "source": "curl" }
}')
echo "$answer"
echo "$answer" | grep -q '工具执行结果已处理.*美式咖啡'
