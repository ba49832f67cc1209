// Schedules of cron, in UTC: minute, hour, day of the month, month and day of the week. The times of a schedule are whole
// minutes.

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Every date and day of the week meet within 28 years, of which 2100 has no 29 February. */
const longest = 40 * 366 * day;

type Schedule = { isDay(at: Date): boolean; isHour(at: Date): boolean; isMinute(at: Date): boolean };

/** Parses a schedule of five fields, each with lists, ranges and steps. Throws RangeError for anything else. */
function parse(text: string): Schedule {
  const [minutes = '', hours = '', dates = '', months = '', weekdays = '', ...more] = text.trim().split(/\s+/);
  if (weekdays === '' || more.length > 0) throw new RangeError(`${text} has not five fields`);
  const [isMinute, isHour, isMonth] = [field(minutes, 0, 59), field(hours, 0, 23), field(months, 1, 12)];
  const [isDate, isWeekday] = [field(dates, 1, 31), field(weekdays, 0, 7)];
  return {
    isMinute: (at) => isMinute(at.getUTCMinutes()),
    isHour: (at) => isHour(at.getUTCHours()),
    isDay(at) {
      const weekday = at.getUTCDay();
      const [onDate, onWeekday] = [isDate(at.getUTCDate()), isWeekday(weekday) || (weekday === 0 && isWeekday(7))];
      // As cron(8): if both are restricted, one of them is enough.
      const either = !dates.startsWith('*') && !weekdays.startsWith('*');
      return isMonth(at.getUTCMonth() + 1) && (either ? onDate || onWeekday : onDate && onWeekday);
    },
  };
}

/** Parses one field: `*`, `7`, `1-5`, `*` with a step, and lists of these. */
function field(text: string, least: number, most: number): (value: number) => boolean {
  const parts = text.split(',').map((part) => {
    const [, all, from = least, to, step = 1] = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/([1-9]\d*))?$/.exec(part) ?? [];
    const range = { from: Number(from), to: all === undefined ? Number(to ?? from) : most, step: Number(step) };
    const isRead = all !== undefined || /^\d/.test(part);
    if (!isRead || range.from < least || range.to > most || Number.isNaN(range.step))
      throw new RangeError(`${part} is no part of a schedule between ${least} and ${most}`);
    return range;
  });
  return (value) => parts.some(({ from, to, step }) => value >= from && value <= to && (value - from) % step === 0);
}

/** Returns the first time of the schedule after a time. */
export function next(text: string, after: Date): Date | undefined {
  return find(parse(text), Math.floor(after.getTime() / minute + 1) * minute, 1, after.getTime() + longest);
}

/** Returns the last time of the schedule that is not after a time, and after another one. */
export function last(text: string, notAfter: Date, after: Date): Date | undefined {
  return find(parse(text), Math.floor(notAfter.getTime() / minute) * minute, -1, after.getTime());
}

/** Walks by days, hours and minutes from a time to another one, which is excluded. */
function find({ isDay, isHour, isMinute }: Schedule, from: number, direction: 1 | -1, to: number): Date | undefined {
  // Forward to the begin of the next unit, and back to the last minute of the former one.
  const skip = (at: number, unit: number) =>
    direction === 1 ? (Math.floor(at / unit) + 1) * unit : Math.floor(at / unit) * unit - minute;
  for (let at = from; (to - at) * direction > 0; ) {
    const date = new Date(at);
    if (!isDay(date)) at = skip(at, day);
    else if (!isHour(date)) at = skip(at, hour);
    else if (!isMinute(date)) at = skip(at, minute);
    else return date;
  }
  return undefined;
}
