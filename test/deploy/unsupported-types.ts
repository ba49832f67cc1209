// The resource types that the emulated AWS does not support.

/**
 * Types that moto's CloudFormation omits; each is tested in unsupported-types.test.ts, or in the tests of the console.
 */
export const unsupportedTypes = [
  'AWS::CloudWatch::Alarm',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::BucketPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'AWS::SecretsManager::Secret',
];
