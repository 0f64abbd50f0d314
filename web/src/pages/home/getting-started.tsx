import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { firstCall } from '../../snippets.ts';
import { Icon } from '../../ui/icon.tsx';
import { Snippet } from '../../ui/snippet.tsx';

const REFETCH_MS = 5_000;

export function GettingStarted() {
  const { customer, service } = useSession();
  const keys = useCall(
    'GET /customers/{customer}/keys',
    { path: { customer: customer.id }, query: { limit: 1 } },
    { refetchMs: REFETCH_MS },
  );
  const hasKey = (keys.data?.items.length ?? 0) > 0;
  return (
    <section className="begin" aria-label="Getting started">
      <ol>
        <Step isDone>Create an account.</Step>
        <Step isDone={hasKey}>
          <Link to="/keys">Create an API key.</Link> It is shown once, with code samples.
        </Step>
        <Step isDone={false}>
          Send a request. It appears here within seconds.
          <Snippet text={firstCall(service.urls)} label="first request" />
        </Step>
      </ol>
    </section>
  );
}

const Step = ({ isDone, children }: { isDone: boolean; children: ReactNode }) => (
  <li className={isDone ? 'begin-done' : ''}>
    <span className="begin-mark">{isDone ? <Icon name="check" /> : null}</span>
    <div className="stack-tight">
      <span className="visually-hidden">{isDone ? 'Done:' : 'To do:'}</span>
      {children}
    </div>
  </li>
);
