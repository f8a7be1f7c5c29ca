import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useT } from "../i18n/i18n.ts";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";

type Props = {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  children: ReactNode;
  footer?: ReactNode;
  /** Wide ones are for code and JSON. */
  wide?: boolean;
  /** Without a visible heading; the title is still its name. */
  bare?: boolean;
  className?: string;
};

/** A modal layer: the browser's own `<dialog>`, so Esc closes the top one, focus stays in it and goes back where it was. */
export function Dialog({ wide = false, className, ...rest }: Props) {
  return (
    <Layer
      {...rest}
      className={cx(
        "m-auto max-h-[min(44rem,calc(100dvh-2rem))] w-[calc(100vw-2rem)] rounded-2xl animate-in",
        wide ? "max-w-3xl" : "max-w-lg",
        className,
      )}
    />
  );
}

/** A layer from the edge: from the right on wide screens, from below on narrow ones. */
export function Sheet({ className, ...rest }: Props) {
  return (
    <Layer
      {...rest}
      className={cx(
        "mt-auto mb-0 h-[88dvh] max-h-none w-full max-w-none rounded-t-2xl animate-rise md:mt-0 md:mr-0 md:ml-auto md:h-dvh md:max-w-xl md:rounded-none md:rounded-l-2xl",
        className,
      )}
    />
  );
}

function Layer({ open, onClose, title, description, children, footer, bare = false, className }: Omit<Props, "wide">) {
  const t = useT();
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (!open || !dialog || dialog.open) return;
    dialog.showModal();
    // The first field, or else the heading: not the button that closes it, which comes first in the page.
    dialog.querySelector<HTMLElement>("input, textarea, select, [contenteditable=true], h2")?.focus();
  }, [open]);
  if (!open) return null;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does what a click beside it does
    <dialog
      ref={ref}
      aria-labelledby={`${id}-title`}
      aria-describedby={description ? `${id}-hint` : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
      className={cx("border border-line bg-surface p-0 text-fg shadow-layer open:flex", className)}
    >
      <div className="flex max-h-full min-h-0 w-full flex-col">
        <div className={cx("flex shrink-0 items-start gap-3 border-b border-line px-5 py-3.5", bare && "sr-only")}>
          <div className="min-w-0 flex-1">
            <h2 id={`${id}-title`} tabIndex={-1} className="text-lg font-semibold outline-none">
              {title}
            </h2>
            {description && (
              <p id={`${id}-hint`} className="mt-0.5 text-sm text-muted">
                {description}
              </p>
            )}
          </div>
          {!bare && <IconButton size="sm" label={t("ui.close")} icon={<X className="size-4" />} onClick={onClose} />}
        </div>
        <div className={cx("min-h-0 flex-1 overflow-auto", !bare && "p-5")}>{children}</div>
        {footer && <div className="flex shrink-0 flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>}
      </div>
    </dialog>
  );
}
