// Reads a function's answer to a batch as Lambda's event source mapping does (AWS Lambda: Implementing partial batch
// responses): a malformed answer is a failure of everything, because trusting it could delete what was not done.
import * as z from 'zod';

const answerShape = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * Which of the batch's messages may be deleted. Nothing, null and an empty list mean all of them. Anything that is no such
 * object, an identifier that is empty or absent, or one that is not of this batch, means none.
 */
export function succeededIds(answer: unknown, messageIds: readonly string[]): readonly string[] {
  if (answer === null || answer === undefined) return messageIds;
  const parsed = answerShape.safeParse(answer);
  if (!parsed.success) return [];
  const failed = new Set((parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(messageIds);
  if (![...failed].every((id) => known.has(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
}
