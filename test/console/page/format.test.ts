// How the page writes times, numbers and names.

import { age, ageOf, clock, count, duration, rate, shortName, stamp } from '@outrigger/cli/console/page/format';
import { expect, it } from 'vitest';

const minute = 60_000;
it.each([
  [age(-5_000), '0s'],
  [age(119_999), '119s'],
  [age(2 * minute), '2m'],
  [age(120 * minute - 1), '119m'],
  [age(120 * minute), '2h'],
  [age(48 * 60 * minute - 1), '47h'],
  [age(48 * 60 * minute), '2d'],
  [ageOf('2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1, 0, 3)), '3m'],
  [ageOf(undefined, 0), ''],
  [clock(new Date(2026, 0, 1, 14, 3, 7).getTime(), new Date(2026, 0, 1, 23).getTime()), '14:03:07'],
  [clock(new Date(2026, 0, 1, 14, 3, 7).getTime(), new Date(2026, 0, 2, 1).getTime()), 'Jan 1 14:03:07'],
  [stamp(new Date(2026, 0, 1, 14, 3, 7).getTime()).replace(/ [A-Z].*$/, ' ZONE'), '2026-01-01 14:03:07 ZONE'],
  [duration(undefined), '–'],
  [duration(0), '0 ms'],
  [duration(999.4), '999 ms'],
  [duration(1_240), '1.2 s'],
  [duration(150_000), '2m'],
  [rate(0), '0'],
  [rate(0.42), '0.4'],
  [rate(12.4), '12'],
  [count(undefined), '–'],
  [count(1_234), '1,234'],
  [shortName('lab:tanks.example.com/default/north'), 'north'],
  [shortName('lab:tanks.example.com/garden/north'), 'garden/north'],
  [shortName('lab:networks.example.com//lab'), 'lab'],
])('the page writes %j', (written, expected) => {
  expect(written).toBe(expected);
});
