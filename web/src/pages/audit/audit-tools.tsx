import { type FormEvent, type ReactNode, useId } from 'react';
import { useChangeSearch, useRange } from '../../range.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';

export function AuditTools({
  action,
  actor,
  onFilter,
  exportAddress,
  children,
}: {
  action: string | undefined;
  actor: string | undefined;
  onFilter: (filter: { action: string | undefined; actor: string | undefined }) => void;
  exportAddress: string;
  children?: ReactNode;
}) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const textOf = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    onFilter({ action: textOf('action'), actor: textOf('actor') });
  };
  return (
    <div className="row-apart">
      <search className="row">
        {children}
        <form className="row" onSubmit={submit} key={`${action} ${actor}`}>
          <label htmlFor={id} className="visually-hidden">
            Action
          </label>
          <input
            id={id}
            name="action"
            className="input audit-action mono"
            defaultValue={action ?? ''}
            placeholder="Action: key.revoke"
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
          />
          <input
            name="actor"
            aria-label="Actor"
            className="input audit-action mono"
            defaultValue={actor ?? ''}
            placeholder="Actor: user:anna@…"
            maxLength={300}
            autoComplete="off"
            spellCheck={false}
          />
          <Button type="submit" icon="filter">
            Filter
          </Button>
          {action === undefined && actor === undefined ? null : (
            <Button onClick={() => onFilter({ action: undefined, actor: undefined })}>Clear filter</Button>
          )}
        </form>
      </search>
      <a className="button" href={exportAddress} download="audit.jsonl">
        <Icon name="download" />
        Export JSON Lines{' '}
      </a>
    </div>
  );
}

/** Events are rare, so short ranges are often empty. */
export function NoEvents({ isFiltered }: { isFiltered: boolean }) {
  const range = useRange();
  const change = useChangeSearch();
  return (
    <EmptyState
      title={isFiltered ? 'No events match the filter' : 'No events in this time range'}
      action={
        range.name === '30d' ? null : (
          <Button onClick={() => change({ range: '30d', from: undefined, to: undefined })}>
            Show last 30 days
          </Button>
        )
      }
    >
      Sign-ins and changes to keys, members, tokens, customers, and nodes are recorded here.
    </EmptyState>
  );
}
