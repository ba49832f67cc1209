// Preloaded into a process (`--import .../shifted-clock.ts?minutes=10`): its wall clock is off by as many minutes. An entry point; it
// exports nothing.
import { shiftClock } from './shift-clock.ts';

shiftClock(Number(new URL(import.meta.url).searchParams.get('minutes')) * 60_000);
