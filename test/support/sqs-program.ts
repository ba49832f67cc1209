// The SQS emulator as a process of its own: its work must not slow down a measuring process. It sends its address to
// the parent process, and ends with it. An entry point without exports.
import { startSqs } from '@outrigger/cli/dev/sqs-server';

const server = await startSqs();
process.once('disconnect', () => process.exit(0));
process.send?.({ url: server.endpoint });
