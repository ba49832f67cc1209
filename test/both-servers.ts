// The test files that run on both API servers: in `npm test` on the one in memory, and in `npm run test:cluster` on a real
// kube-apiserver, which shows that their expectations are Kubernetes' own. They open it with useApiServer of test/harness.

/** Files as globs from the root of the repository. */
export const onBothServers = [
  'test/conformance/*.test.ts',
  'test/generate/{children-policy,generated}.test.ts',
  'test/kube/apply/{apply-all,apply-all-*,events,finalizers,write}.test.ts',
  'test/kube/client/classify.test.ts',
  'test/operations/{detach,migrate-versions}.test.ts',
  'test/reconciling/{reconcile,reconcile-family}.test.ts',
  'test/reconciling/{status-slice*,strays}.test.ts',
  'test/reconciling/status/written.test.ts',
  'test/simulators/workloads/{deployment,deployment-rolling,service,stateful-set}.test.ts',
  'test/statements/{bad-input,book,cascade,dinner,foo,generation,hostile-child,ingredient}.test.ts',
  'test/statements/{drift,foreign-conditions,foreign-status,own-metadata,owner,poison,tenant-network,wake,water-tank}.test.ts',
  'test/statements/bitcoin-network{,-wake}.test.ts',
];
