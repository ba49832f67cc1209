// Statements that catch no mutant, each with the reason. A statement that is not listed here and catches none
// fails `npm run mutate`: either a mutant is missing, or the statement's test would not notice.

/** Statement → reason. */
export const uncaught: Readonly<Record<string, string>> = {
  BK10: 'it is about the API server alone: nothing of ours has a v1beta1 form that could be wrong',
  BK8: 'the API server alone decides it: test/conformance has it',
  BK11: 'the API server alone decides it: test/conformance has it',
  X19: 'the group is in the path, the key and the controller of a kind: with one of them wrong the others still differ',
};
