import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { announce } from "../app/announce.tsx";
import { useT } from "../i18n/i18n.ts";
import { Button, IconButton } from "./button.tsx";

/** Puts a text into the clipboard. `text` may be a function where it is costly to make. */
export function CopyButton({
  text,
  label,
  size = "sm",
  withText = false,
  kind = "secondary",
}: {
  text: string | (() => string);
  label?: string;
  size?: "sm" | "md";
  withText?: boolean;
  kind?: "primary" | "secondary" | "ghost";
}) {
  const t = useT();
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const name = state === "copied" ? t("ui.copied") : state === "failed" ? t("ui.copyFailed") : (label ?? t("ui.copy"));
  const icon = state === "copied" ? <Check className="size-3.5 text-good" /> : <Copy className="size-3.5" />;
  const copy = async () => {
    const copied = await toClipboard(typeof text === "string" ? text : text());
    setState(copied ? "copied" : "failed");
    announce(t(copied ? "ui.copied" : "ui.copyFailed"));
    setTimeout(() => setState("idle"), 1_500);
  };
  if (withText)
    return (
      <Button size={size} kind={kind} icon={icon} onClick={() => void copy()}>
        {name}
      </Button>
    );
  return <IconButton size={size} label={name} icon={icon} onClick={() => void copy()} />;
}

/** `navigator.clipboard` is only there on https and on localhost; the old way works everywhere. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
    area.className = "sr-only";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
