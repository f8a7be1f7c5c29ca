import { CircleCheck, CircleX, Info, X } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { announce } from "./announce.tsx";

/** Something that has happened, in passing. What is wrong with a thing is said at the thing. */
export type Toast = { text: string; tone?: "info" | "good" | "bad"; action?: { label: string; run: () => void }; ms?: number };

type Shown = Toast & { id: number };

let toasts: Shown[] = [];
let last = 0;
const listeners = new Set<() => void>();

/** Shows it for a while; returns how to take it back. */
export function toast(about: Toast): () => void {
  const id = ++last;
  toasts = [...toasts, { ...about, id }].slice(-4);
  announce(about.text);
  tell();
  return () => dismiss(id);
}

function dismiss(id: number): void {
  toasts = toasts.filter((each) => each.id !== id);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Once in the page. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="pointer-events-none fixed right-0 bottom-16 z-40 flex w-full max-w-md flex-col gap-2 p-4 md:bottom-0">
      {shown.map((each) => (
        <ToastCard key={each.id} {...each} />
      ))}
    </div>
  );
}

const ICONS = {
  info: <Info aria-hidden className="size-4.5 text-info" />,
  good: <CircleCheck aria-hidden className="size-4.5 text-good" />,
  bad: <CircleX aria-hidden className="size-4.5 text-bad" />,
};

function ToastCard({ id, text, tone = "info", action, ms = 6_000 }: Shown) {
  const t = useT();
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), ms);
    return () => clearTimeout(timer);
  }, [id, ms]);
  return (
    <div className="pointer-events-auto flex items-center gap-3 rounded-xl border border-line bg-raised py-2 pr-2 pl-3.5 shadow-raised animate-rise">
      {ICONS[tone]}
      <p className="min-w-0 flex-1 py-1">{text}</p>
      {action && (
        <Button
          size="sm"
          onClick={() => {
            action.run();
            dismiss(id);
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton size="sm" label={t("ui.dismiss")} icon={<X className="size-4" />} onClick={() => dismiss(id)} />
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
