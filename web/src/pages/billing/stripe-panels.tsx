import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatNumberOf, formatTime } from '../../format.ts';
import { useCall, useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { TextInput } from '../sign-in/text-input.tsx';

/** Links a customer to a Stripe customer. */
export function StripeCustomer({
  customerId,
  stripeId,
  difference,
}: {
  customerId: string;
  stripeId: string | null;
  difference: string | null;
}) {
  const toast = useToast();
  const [text, setText] = useState(stripeId ?? '');
  const stripe = useCall('GET /stripe', {});
  const change = useChange('PUT /customers/{customer}/stripe');
  const save = (stripeCustomerId: string | null): void =>
    change.mutate(
      { path: { customer: customerId }, body: { stripeCustomerId } },
      { onSuccess: () => toast('Saved.') },
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save(text.trim());
  };
  return (
    <Panel
      title="Stripe"
      note={
        stripe.data?.isConfigured !== true ? (
          <>
            Usage is sent only if <code>stripe.secret_key</code> is set in the configuration.
          </>
        ) : stripeId === null ? (
          'Enter a Stripe customer ID to report usage.'
        ) : (
          'Usage is reported to your Stripe meter every hour.'
        )
      }
    >
      {difference === null ? null : <p className="fault">{difference}</p>}
      <form className="stack form" onSubmit={submit}>
        <TextInput
          label="Stripe customer ID"
          name="stripeCustomerId"
          value={text}
          onChange={setText}
          problem={change.error}
        />
        <FormError problem={change.error} />
        <div className="row">
          <Button type="submit" busy={change.isPending} disabled={text.trim() === (stripeId ?? '')}>
            Save
          </Button>
          {stripeId === null ? null : (
            <Button
              kind="quiet"
              onClick={() => {
                setText('');
                save(null);
              }}
            >
              Stop sending usage
            </Button>
          )}
        </div>
      </form>
    </Panel>
  );
}

type Event = RouteOutput<'GET /stripe'>['events'][number];

/** Usage that could not be sent to Stripe. */
export function StripeEvents() {
  const stripe = useCall('GET /stripe', {});
  return (
    <Panel title="Stripe">
      <Pending query={stripe} height="s">
        {({ isConfigured, pending, events }) =>
          isConfigured ? (
            <>
              <p className="muted">{formatNumberOf(pending, 'event')} pending</p>
              <Table
                caption="Pending and failed events"
                rows={events}
                rowKey={({ id }) => id}
                columns={columns}
                empty={<p className="muted">No failed events.</p>}
              />
            </>
          ) : (
            <p className="muted">
              Set <code>stripe.secret_key</code> in the configuration to send usage to Stripe.
            </p>
          )
        }
      </Pending>
    </Panel>
  );
}

const columns: Column<Event>[] = [
  { id: 'at', title: 'Hour (UTC)', sortBy: ({ at }) => at, cell: ({ at }) => formatTime(at).slice(0, 16) },
  { id: 'customer', title: 'Customer', cell: ({ customerId }) => <code>{customerId}</code> },
  { id: 'credits', title: 'Credits', align: 'end', cell: ({ credits }) => formatCount(credits) },
  {
    id: 'state',
    title: 'Status',
    cell: ({ state, attempts }) => (
      <Chip tone={state === 'failed' ? 'bad' : 'warn'}>
        {state === 'failed' ? 'Failed' : `Retrying (${formatCount(attempts)})`}
      </Chip>
    ),
  },
  { id: 'problem', title: 'Problem', cell: ({ problem }) => problem },
];
