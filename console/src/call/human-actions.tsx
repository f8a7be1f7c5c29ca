import { Check, ChevronDown, MessageSquareReply, Pencil, ShieldCheck, X } from "lucide-react";
import { useState } from "react";
import { useActions } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import type { ActionProps } from "./actions.tsx";
import { EditArguments } from "./edit-arguments.tsx";
import { notByEnter } from "./not-by-enter.ts";
import { TextAnswer } from "./text-answer.tsx";
import { useToolSpec } from "./use-tool-spec.ts";
import { useTry } from "./use-try.ts";

/** Approve, edit, reject, respond instead. Enter alone approves nothing, and closing an editor approves nothing. */
export function HumanActions({ threadId, call, send, busy, mode: asked }: ActionProps) {
  const t = useT();
  const { approve, reject, respond, grant } = useActions();
  const attempt = useTry();
  const spec = useToolSpec(threadId, call.name);
  const [mode, setMode] = useState<"choose" | "edit" | "reject" | "respond">(asked ?? "choose");
  const close = () => setMode("choose");
  const allow = async (everywhere: boolean) => {
    if (await attempt(grant(call.name, threadId, everywhere))) await send(approve(call.id));
  };
  if (mode === "edit")
    return (
      <EditArguments
        input={call.input ?? {}}
        schema={spec?.input}
        busy={busy}
        onCancel={close}
        onSubmit={(input) => void send(approve(call.id, { input }))}
      />
    );
  if (mode === "reject")
    return (
      <TextAnswer
        label={t("call.reason")}
        hint={t("call.reasonHint")}
        action={t("call.reject")}
        danger
        optional
        busy={busy}
        onCancel={close}
        onSubmit={(reason) => void send(reject(call.id, reason === "" ? undefined : reason))}
      />
    );
  if (mode === "respond")
    return (
      <TextAnswer
        label={t("call.respondLabel")}
        hint={t("call.respondHint")}
        action={t("call.respond")}
        busy={busy}
        onCancel={close}
        onSubmit={(text) => void send(respond(call.id, text))}
      />
    );
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        kind="primary"
        busy={busy}
        icon={<Check aria-hidden className="size-4" />}
        onKeyDown={notByEnter(() => void send(approve(call.id)))}
        onClick={() => void send(approve(call.id))}
      >
        {t("call.approve")}
      </Button>
      <Button disabled={busy} icon={<Pencil aria-hidden className="size-3.5" />} onClick={() => setMode("edit")}>
        {t("call.edit")}
      </Button>
      <Button kind="danger" disabled={busy} icon={<X aria-hidden className="size-4" />} onClick={() => setMode("reject")}>
        {t("call.reject")}…
      </Button>
      <Menu
        align="start"
        items={[
          { label: t("call.respondInstead"), icon: <MessageSquareReply className="size-4" />, onSelect: () => setMode("respond") },
          "line",
          { label: t("call.allowHere"), icon: <ShieldCheck className="size-4" />, onSelect: () => void allow(false) },
          { label: t("call.allowEverywhere"), icon: <ShieldCheck className="size-4" />, onSelect: () => void allow(true) },
        ]}
      >
        <Button kind="ghost" disabled={busy}>
          {t("call.more")}
          <ChevronDown aria-hidden className="size-3.5" />
        </Button>
      </Menu>
    </div>
  );
}
