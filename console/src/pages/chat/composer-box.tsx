import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useT } from "../../i18n/i18n.ts";
import { cx } from "../../ui/cx.ts";

type Props = {
  /** Drafts are kept under this name. */
  name: string;
  placeholder: string;
  /** Takes the text and says whether it was sent; what was not sent stays. */
  onSubmit: (text: string) => boolean;
  icon: ReactNode;
  action?: ReactNode;
  hidden?: boolean;
  autoFocus?: boolean;
};

/** A text that grows with what is in it. Enter sends, Shift+Enter does not, and neither does an Enter that belongs to an input method. */
export function ComposerBox({ name, placeholder, onSubmit, icon, action, hidden = false, autoFocus = false }: Props) {
  const t = useT();
  const [text, setText] = useDraft(name);
  const area = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
  }, [text, hidden]);
  const submit = () => {
    if (text.trim() !== "" && onSubmit(text.trim())) setText("");
  };
  return (
    <div
      className={cx(
        "flex items-end gap-2 rounded-2xl border border-line-strong/60 bg-surface p-1.5 pl-4 shadow-card focus-within:border-accent",
        hidden && "hidden",
      )}
    >
      <textarea
        ref={area}
        rows={1}
        value={text}
        aria-label={placeholder}
        placeholder={placeholder}
        // biome-ignore lint/a11y/noAutofocus: an empty page has nothing else to do
        autoFocus={autoFocus}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          // 229 is an Enter that an input method has taken to choose a word.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          submit();
        }}
        className="min-h-9 min-w-0 flex-1 resize-none bg-transparent py-2 text-base outline-none"
      />
      {action}
      <button
        type="button"
        aria-label={t("chat.send")}
        disabled={text.trim() === ""}
        onClick={submit}
        className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-accent text-on-accent transition-colors hover:not-disabled:bg-accent-hover disabled:bg-quiet-soft disabled:text-muted"
      >
        {icon}
      </button>
    </div>
  );
}

/** What was typed and not sent is still there after a reload. */
function useDraft(name: string): [string, (text: string) => void] {
  const key = `handback.draft.${name}`;
  const [text, setText] = useState(() => read(key));
  useEffect(() => {
    const timer = setTimeout(() => write(key, text), 250);
    return () => clearTimeout(timer);
  }, [key, text]);
  return [
    text,
    (next) => {
      setText(next);
      if (next === "") write(key, "");
    },
  ];
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Storage is off or full: a draft is not worth a broken page.
  }
}
