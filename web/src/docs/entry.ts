/** A section of the docs in the search index. `heading` is empty for the start of a page. */
export type DocsEntry = Readonly<{ page: string; heading: string; href: string; text: string }>;
