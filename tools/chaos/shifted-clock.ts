// Preloaded into a process (`--import .../shifted-clock.ts?minutes=10`): shifts its wall clock by this number of
// minutes. An entry point without exports.
import { shiftClock } from './shift-clock.ts';

shiftClock(Number(new URL(import.meta.url).searchParams.get('minutes')) * 60_000);
