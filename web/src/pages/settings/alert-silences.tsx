import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import type { ProblemJson } from '../../../../src/control/api/contract/health.ts';
import { problemNames } from '../../problem-names.ts';
import { useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Silence = RouteOutput<'GET /alerts'>['silences'][number];
type Code = ProblemJson['code'];

const codes = Object.keys(problemNames) as Code[];
const nameOf = (code: Code | null): string => (code === null ? 'All problems' : problemNames[code]);

const HOUR_MS = 3_600_000;
const durations = [
  ['1 hour', HOUR_MS],
  ['8 hours', 8 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 168 * HOUR_MS],
] as const;

export function AlertSilences({ silences }: { silences: readonly Silence[] }) {
  return (
    <div className="stack">
      <Table
        caption="Silences"
        rows={silences}
        rowKey={({ code }) => code ?? 'all'}
        empty={<p className="muted">No active silences.</p>}
        columns={[
          { id: 'code', title: 'Problem', cell: ({ code }) => nameOf(code) },
          { id: 'until', title: 'Until', cell: ({ until }) => <Time at={until} /> },
          { id: 'by', title: 'By', cell: ({ createdBy }) => createdBy, wideOnly: true },
          {
            id: 'do',
            title: 'Actions',
            hideTitle: true,
            align: 'end',
            cell: ({ code }) => <EndSilence code={code} />,
          },
        ]}
      />
      <AddSilence />
    </div>
  );
}

function EndSilence({ code }: { code: Code | null }) {
  const end = useChange('DELETE /alerts/silences/{code}');
  return (
    <Button
      size="s"
      kind="quiet"
      busy={end.isPending}
      onClick={() => end.mutate({ path: { code: code ?? 'all' } })}
    >
      End<span className="visually-hidden"> silence of {nameOf(code)}</span>
    </Button>
  );
}

function AddSilence() {
  const [code, setCode] = useState('');
  const [duration, setDuration] = useState<number>(HOUR_MS);
  const add = useChange('POST /alerts/silences');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const chosen = codes.find((one) => one === code) ?? null;
    add.mutate({ body: { code: chosen, until: Date.now() + duration } });
  };
  return (
    <form onSubmit={submit} className="stack form">
      <SelectField<string>
        label="Silence"
        name="code"
        value={code}
        options={[['', 'All problems'], ...codes.map((one) => [one, problemNames[one]] as const)]}
        onChange={setCode}
        problem={add.error}
      />
      <SelectField<string>
        label="For"
        name="until"
        value={String(duration)}
        options={durations.map(([label, ms]) => [String(ms), label])}
        onChange={(value) => setDuration(Number(value))}
        problem={add.error}
      />
      <FormError problem={add.error} />
      <div>
        <Button type="submit" busy={add.isPending}>
          Silence alerts
        </Button>
      </div>
    </form>
  );
}
