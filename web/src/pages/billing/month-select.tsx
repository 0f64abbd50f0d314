import { monthTitle } from './money.ts';

export const MonthSelect = ({
  month,
  months,
  onMonth,
}: {
  month: string;
  months: readonly string[];
  onMonth: (month: string) => void;
}) => (
  <select
    className="select"
    aria-label="Month"
    value={month}
    onChange={(event) => onMonth(event.target.value)}
  >
    {months.map((name) => (
      <option key={name} value={name}>
        {monthTitle(name)}
      </option>
    ))}
  </select>
);
