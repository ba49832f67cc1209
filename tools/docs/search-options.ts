// How the pages of a search are ordered: guides, then what is looked up, then the API and the records. VitePress hands these
// to the browser as a text, so the function uses nothing but its argument.
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (id: string) => {
    if (/\/(?:api|records|decisions)\/|\/messages\b|\/[A-Z]+\b/.test(id)) return 0.2;
    return /\/(?:cli|logs|settings|parameters|generated-files|troubleshooting)\b/.test(id) ? 0.5 : 1;
  },
};
