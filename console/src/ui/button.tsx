import type { ComponentProps, ReactNode } from "react";
import { cx } from "./cx.ts";
import { Tooltip } from "./tooltip.tsx";

type Kind = "primary" | "secondary" | "ghost" | "danger";
type Size = "sm" | "md";

const KINDS: Record<Kind, string> = {
  primary: "bg-accent text-on-accent hover:not-disabled:bg-accent-hover border-transparent",
  secondary: "bg-surface text-fg border-line hover:not-disabled:bg-hover shadow-card",
  ghost: "bg-transparent text-muted border-transparent hover:not-disabled:bg-hover hover:not-disabled:text-fg",
  danger: "bg-surface text-bad border-bad-line hover:not-disabled:bg-bad-soft",
};
const SIZES: Record<Size, string> = { sm: "h-7 px-2.5 text-sm gap-1.5 rounded-md", md: "h-9 px-3.5 text-base gap-2 rounded-lg" };
const SHAPE =
  "inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap select-none transition-colors disabled:opacity-55 disabled:saturate-50 disabled:cursor-not-allowed";

type Props = ComponentProps<"button"> & { kind?: Kind; size?: Size; icon?: ReactNode; busy?: boolean };

/** A button. One primary per view; `busy` keeps its place and its name while something is under way. */
export function Button({ kind = "secondary", size = "md", icon, busy = false, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      className={cx(SHAPE, KINDS[kind], SIZES[size], className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** A button of an icon only; its label is a tooltip and its name. */
export function IconButton({
  label,
  icon,
  size = "md",
  pressed,
  className,
  hint,
  ...rest
}: Omit<ComponentProps<"button">, "children"> & { label: string; icon: ReactNode; size?: Size; pressed?: boolean; hint?: string }) {
  return (
    <Tooltip text={label} {...(hint && { hint })}>
      <button
        type="button"
        aria-label={label}
        aria-pressed={pressed}
        className={cx(
          SHAPE,
          KINDS.ghost,
          size === "sm" ? "size-7 rounded-md" : "size-9 rounded-lg",
          pressed && "bg-hover text-fg",
          className,
        )}
        {...rest}
      >
        {icon}
      </button>
    </Tooltip>
  );
}

export function Spinner() {
  return <span aria-hidden className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent" />;
}
