import { ArrowUp } from "lucide-react";
import { type ReactNode, type Ref, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { useT } from "../../i18n/i18n.ts";

type Props = {
  text: string;
  onText: (text: string) => void;
  placeholder: string;
  /** Takes the text, which is never empty. */
  onSubmit: (text: string) => void;
  action?: ReactNode;
  autoFocus?: boolean;
  ref?: Ref<{ focus(): void }>;
};

const HIGHEST_PX = 220;

/** A text that grows with what is in it. Enter sends, Shift+Enter does not, and neither does an Enter that belongs to an input method. */
export function ComposerBox({ text, onText, placeholder, onSubmit, action, autoFocus = false, ref }: Props) {
  const t = useT();
  const area = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => area.current?.focus() }), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, HIGHEST_PX)}px`;
  }, [text]);
  const submit = () => {
    if (text.trim() !== "") onSubmit(text.trim());
  };
  return (
    <div className="flex items-end gap-2 rounded-2xl border border-line-strong/60 bg-surface p-1.5 pl-4 shadow-card focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
      <textarea
        ref={area}
        rows={1}
        value={text}
        aria-label={placeholder}
        placeholder={placeholder}
        // biome-ignore lint/a11y/noAutofocus: an empty page has nothing else to do
        autoFocus={autoFocus}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          // 229 is an Enter that an input method has taken to choose a word.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          submit();
        }}
        className="min-h-9 min-w-0 flex-1 resize-none bg-transparent py-1.5 text-[0.9375rem] leading-6 outline-none"
      />
      {action}
      <button
        type="button"
        aria-label={t("chat.send")}
        disabled={text.trim() === ""}
        onClick={submit}
        className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-accent text-on-accent transition-colors hover:not-disabled:bg-accent-hover disabled:bg-quiet-soft disabled:text-muted"
      >
        <ArrowUp aria-hidden className="size-4.5" />
      </button>
    </div>
  );
}
