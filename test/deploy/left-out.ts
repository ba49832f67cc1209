// What the emulated AWS does not know.

/** Types that moto's CloudFormation leaves out; each is looked at in left-out.test.ts, or in the tests of the console. */
export const leftOut = [
  'AWS::CloudWatch::Alarm',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::BucketPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
];
