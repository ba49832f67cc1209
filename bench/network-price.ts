// The formulas of docs/records/cost.md that the command `cost` has no rows for: the network, and metrics by cluster.
import { type Deployment, hoursAMonth, type Prices, resyncRuns } from '@outrigger/cli/commands/cost/price-sheet';

/** A compressed, whole object with a small spec in a list, in bytes (f11). */
const listedBytes = 65;

/** The data that resyncs of this number of objects receive in a month, in gigabytes. */
function listedGigabytes(objects: number): number {
  return (objects * resyncRuns * listedBytes) / 1e9;
}

/** The price of this number of NAT gateways for a month, through which the resync lists this number of objects. */
export function natMonth(prices: Prices, gateways: number, objects: number): number {
  return gateways * hoursAMonth * prices.natGatewayHour.dollars + listedGigabytes(objects) * prices.natGigabyte.dollars;
}

/**
 * The interface endpoints that replace a NAT gateway. Lambda itself delivers the functions' logs; S3's gateway endpoint
 * costs nothing.
 */
export const endpoints = {
  functions: ['sqs', 'secretsmanager'],
  fleetWatcher: ['sqs', 'ecr.api', 'ecr.dkr', 'logs', 'sts'],
} as const;

/** The price of this number of interface endpoints, in two availability zones each, for a month. */
export function endpointMonth(prices: Prices, count: number): number {
  return count * 2 * hoursAMonth * prices.endpointHour.dollars;
}

/**
 * The price of a metric by cluster, for each controller and cluster, for a month: what METRICS_PER_CLUSTER adds for
 * each metric name.
 */
export function perClusterMonth(prices: Prices, { controllers }: Deployment, clusters: number): number {
  return controllers * clusters * prices.metric.dollars;
}
