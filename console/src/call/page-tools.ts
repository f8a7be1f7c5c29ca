type PageTool = (input: Record<string, unknown>) => unknown;

/** What agents may ask this page itself to do. Each runs only when a person says so, in the tab where they say it. */
export const PAGE_TOOLS: Record<string, PageTool | undefined> = {
  change_background(input) {
    const colour = String(input["color"] ?? input["colour"] ?? input["background"] ?? "");
    if (!CSS.supports("color", colour)) throw new Error(`${colour || "(nothing)"} is no colour`);
    document.documentElement.style.setProperty("--canvas", colour);
    return { changed: true, color: colour };
  },
};
