// The emulated SQS as a process: what lies on its queues must not cost those who measure what others wait for. It tells whoever forked
// it its address, and ends with him. An entry point; it exports nothing.
import { startSqs } from '../../src/dev/sqs-server.ts';

const server = await startSqs();
process.once('disconnect', () => process.exit(0));
process.send?.({ url: server.endpoint });
