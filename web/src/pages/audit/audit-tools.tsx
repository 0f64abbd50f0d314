import { type FormEvent, type ReactNode, useId } from 'react';
import { useChangeSearch, useRange } from '../../range.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';

export function AuditTools({
  action,
  onAction,
  exportAddress,
  children,
}: {
  action: string | undefined;
  onAction: (action: string | undefined) => void;
  exportAddress: string;
  children?: ReactNode;
}) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('action') ?? '').trim();
    onAction(text === '' ? undefined : text);
  };
  return (
    <div className="row-apart">
      <search className="row">
        {children}
        <form className="row" onSubmit={submit} key={action ?? ''}>
          <label htmlFor={id} className="visually-hidden">
            Action
          </label>
          <input
            id={id}
            name="action"
            className="input audit-action mono"
            defaultValue={action ?? ''}
            placeholder="key.revoke"
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
          />
          <Button type="submit" icon="filter">
            Filter
          </Button>
          {action === undefined ? null : <Button onClick={() => onAction(undefined)}>Clear filter</Button>}
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
