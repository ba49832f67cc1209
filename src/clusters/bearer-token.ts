// A token as it is pasted may have a newline or a quotation mark at its end. It would fail at every request of every object;
// said of the entry it is mended once.
import * as z from 'zod';

/** What may stand in an Authorization header behind `Bearer`: no spaces, no control characters. */
export const bearerToken = z.string().regex(/^[!-~]+$/);
