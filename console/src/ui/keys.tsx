const MAC = /mac|iphone|ipad/i.test(navigator.platform);

/** Keys as they are printed on them: `mod+k`, `g i`, `shift+a`. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-1">
      {keys.split(" ").map((chord) => (
        <kbd
          key={chord}
          className="inline-flex min-w-5 items-center justify-center rounded border border-line bg-sunken px-1 font-sans text-2xs text-muted"
        >
          {chord
            .split("+")
            .map(nameOf)
            .join(MAC ? "" : "+")}
        </kbd>
      ))}
    </span>
  );
}

function nameOf(key: string): string {
  const known: Record<string, string> = { mod: MAC ? "⌘" : "Ctrl", shift: MAC ? "⇧" : "Shift", enter: MAC ? "↩" : "Enter", esc: "Esc" };
  return known[key] ?? key.toUpperCase();
}
