/** A text with `{names}` in it, or two: for one and for many. */
export type Entry = string | { one: string; other: string };

/** The same texts in another language: none missing, none left over. */
export type Translation<Section> = { readonly [Name in keyof Section]: Entry };
