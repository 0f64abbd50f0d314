import * as Dropdown from '@radix-ui/react-dropdown-menu';
import type { ReactNode } from 'react';
import { Button, type ButtonProps } from './button.tsx';

export type MenuItem = Readonly<{
  label: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  checked?: boolean;
}>;

type MenuProps = Readonly<{
  label?: string;
  button: ReactNode;
  buttonProps?: Omit<ButtonProps, 'children'>;
  items: readonly MenuItem[];
  head?: ReactNode;
  align?: 'start' | 'end';
}>;

const GAP_PX = 4;

export function Menu({ label, button, buttonProps, items, head, align = 'start' }: MenuProps) {
  return (
    <div className="menu">
      {/* A modal menu would lock scrolling with an inline style sheet, which the content security policy forbids. */}
      <Dropdown.Root modal={false}>
        <Dropdown.Trigger asChild>
          <Button {...buttonProps} {...(label === undefined ? {} : { 'aria-label': label, title: label })}>
            {button}
          </Button>
        </Dropdown.Trigger>
        <Dropdown.Portal>
          <Dropdown.Content
            className="menu-list"
            align={align}
            sideOffset={GAP_PX}
            collisionPadding={GAP_PX}
            loop
          >
            {head === undefined ? null : <Dropdown.Label className="menu-head">{head}</Dropdown.Label>}
            {items.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: no other key; the order is stable
              <MenuEntry key={index} item={item} />
            ))}
          </Dropdown.Content>
        </Dropdown.Portal>
      </Dropdown.Root>
    </div>
  );
}

function MenuEntry({ item }: { item: MenuItem }) {
  const { label, onSelect, danger = false, disabled = false, checked } = item;
  const className = `menu-item ${danger ? 'menu-item-danger' : ''}`;
  if (checked === undefined)
    return (
      <Dropdown.Item className={className} disabled={disabled} onSelect={onSelect}>
        {label}
      </Dropdown.Item>
    );
  return (
    <Dropdown.CheckboxItem className={className} disabled={disabled} checked={checked} onSelect={onSelect}>
      {label}
    </Dropdown.CheckboxItem>
  );
}
