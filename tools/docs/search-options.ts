// How the pages of a search are ordered: guides, then what is looked up, then the API and the records. VitePress hands these
// to the browser as a text, so a function uses nothing but its argument.
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 8, text: 2, titles: 3 },
  processTerm: (term: string) =>
    /^(?:a|an|the|of|to|in|on|is|do|does|how|what|i|my|it|with|without)$/i.test(term) ? null : term.toLowerCase(),
  boostDocument: (id: string) => {
    if (/\/(?:api|records|decisions)\/|\/messages\b|\/[A-Z]+\b/.test(id)) return 0.1;
    if (/\/alarms\//.test(id)) return 0.7;
    return /\/(?:cli|logs|settings|parameters|generated-files|troubleshooting|security-model)\b/.test(id) ? 0.5 : 1;
  },
};
