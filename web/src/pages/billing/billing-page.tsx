import { useFilters } from '../../filters.ts';
import { useFrameSearch } from '../../range.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AllBills } from './all-bills.tsx';
import { CustomerBill } from './customer-bill.tsx';

const fields = ['tab', 'month'] as const;

export function BillingPage() {
  const [{ tab, month }, change] = useFilters(fields);
  const { user, customer } = useSession();
  const isChosen = useFrameSearch().customer !== undefined;
  const choose = (name: string): void => change({ month: name });
  const own = <CustomerBill month={month} onMonth={choose} />;
  return (
    <Page title="Billing" question="Monthly bills, signed statements, and usage exports.">
      {user.isOperator ? (
        <Tabs
          label="Billing"
          chosen={tab ?? (isChosen ? 'customer' : 'all')}
          onChoose={(id) => change({ tab: id })}
          tabs={[
            { id: 'customer', label: customer.name, panel: () => own },
            { id: 'all', label: 'All customers', panel: () => <AllBills month={month} onMonth={choose} /> },
          ]}
        />
      ) : (
        own
      )}
    </Page>
  );
}
