// Where the queues are: one prefix for a deployment, and the names that core gives them.

/**
 * Joins the URL of a queue from the deployment's prefix, for example `https://sqs.eu-central-1.amazonaws.com/123456789012/outrigger-dev-`.
 * The name follows the prefix directly.
 */
export function queueUrl(urlPrefix: string, name: string): string {
  return `${urlPrefix}${name}`;
}
