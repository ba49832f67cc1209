// The queue server of ours, a process of its own as SQS is nobody's neighbour. It ends with whoever forked it. An entry point; it exports nothing.
import { startSqs } from '../../../src/local/sqs.ts';

const { endpoint } = await startSqs();
process.once('disconnect', () => process.exit(0));
process.send?.({ endpoint });
