// What is wrong with how a cluster is to be reached, for a person to mend. One line: where, which field, what to do. It never
// carries a credential, nor what a parser quoted of one.

/** A kubeconfig or an entry of the clusters table that cannot be used. */
export class ConnectionProblem extends Error {
  override readonly name = 'ConnectionProblem';

  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*[\r\n]+\s*/g, ' '), options);
  }
}
