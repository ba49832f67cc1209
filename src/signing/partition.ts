// The partitions of AWS: in which one a region is, and the end of the names of its hosts.
//
// Source: the partitions of the AWS SDK (`partitions.json` of its endpoints), to which a test compares these.

/** A partition. */
export type AwsPartition = { readonly name: string; readonly dnsSuffix: string };

const partitions: readonly (AwsPartition & { readonly prefix: string })[] = [
  { prefix: 'cn-', name: 'aws-cn', dnsSuffix: 'amazonaws.com.cn' },
  { prefix: 'us-gov-', name: 'aws-us-gov', dnsSuffix: 'amazonaws.com' },
  { prefix: 'eusc-', name: 'aws-eusc', dnsSuffix: 'amazonaws.eu' },
  { prefix: 'us-iso-', name: 'aws-iso', dnsSuffix: 'c2s.ic.gov' },
  { prefix: 'us-isob-', name: 'aws-iso-b', dnsSuffix: 'sc2s.sgov.gov' },
  { prefix: 'eu-isoe-', name: 'aws-iso-e', dnsSuffix: 'cloud.adc-e.uk' },
  { prefix: 'us-isof-', name: 'aws-iso-f', dnsSuffix: 'csp.hci.ic.gov' },
];

/** Returns the partition of a region. */
export function partitionOf(region: string): AwsPartition {
  const found = partitions.find(({ prefix }) => region.startsWith(prefix));
  return found ?? { name: 'aws', dnsSuffix: 'amazonaws.com' };
}
