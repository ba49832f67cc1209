// The entry `outrigger/aws`: clients of AWS for controllers. Only the entries re-export other modules.
export { type AwsClientOptions, awsClient } from './aws/client.ts';
