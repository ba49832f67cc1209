// The journeys on the embedded parts: in-memory API server, embedded SQS.
import { describeJourneys } from './suite.ts';

describeJourneys('on one machine', () => ({}));
