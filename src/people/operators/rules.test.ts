import { expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { commonPasswords } from './common-passwords.ts'
import { createOperator } from './contract.ts'
import { nameFaults, passwordFaults } from './rules.ts'

const isRefused = (password: string, name = 'wang.fang') => passwordFaults('password', password, name).length > 0

test('common passwords are refused, and what people make of common words', () => {
  expect([commonPasswords().passwords.size, commonPasswords().words.size]).toEqual([308, 10_000])
  for (const password of [
    ...['password1234', 'PASSWORD1234', 'ｐａｓｓｗｏｒｄ１２３４', '123456789012', '210987654321', 'qwertyuiop123'],
    ...['1qaz2wsx3edc', 'Intelligence'],
    ' '.repeat(12),
    ...['aaaaaaaaaaaaaaaa', 'abcabcabcabcabc', 'Tr4Tr4Tr4Tr4', 'abcdefghijklmnop', 'P@ssw0rd2026!', 'sunshine!!2026'],
    ...['2026!!sunshine', '__M1chael_1984', 'Forecourt2026!', 'forecourtforecourt', 'adminadmin12', 'charging2026'],
    ...['operator2026', '0perat0r-2026', 'a1b2c3d4e5f6'],
  ]) {
    expect([password, isRefused(password)]).toEqual([password, true])
  }
  for (const password of [
    ...['correct horse battery staple', 'a6f0c1d29b47e835a6f0c1d2', '充电站的门口有三棵老槐树和一只猫', 'xK7#mq2Lw9!z'],
    ...['three blue lorries at noon', 'the charging station by the river', 'K7w operator 2Lqz'],
  ]) {
    expect([password, isRefused(password)]).toEqual([password, false])
  }
})

test('the name itself is refused, and little more than it', () => {
  for (const password of ['wang.fang.beijing', 'WANG.FANG.BEIJING', 'wang.fang.beijing1', '!!wang.fang.beijing!!']) {
    expect([password, isRefused(password, 'Wang.Fang.Beijing')]).toEqual([password, true])
  }
  expect(isRefused('wang.fang.beijing waits for rain', 'wang.fang.beijing')).toBe(false)
  expect(isRefused('xK7#mq2Lw9!z', 'x')).toBe(false)
})

test('the old one is refused', () => {
  expect(passwordFaults('newPassword', 'xK7#mq2Lw9!z', 'wang', 'xK7#mq2Lw9!z').map(({ field }) => field)).toEqual([
    'newPassword',
  ])
})

test('names that the service uses itself are refused, however they are written', () => {
  for (const name of ['operator', 'Operator', 'ｏｐｅｒａｔｏｒ', 'first start', 'PLATFORM', 'anyone']) {
    expect(nameFaults(name).map(({ field }) => field)).toEqual(['name'])
  }
  for (const name of ['admin', 'operator of the night', 'Wang Fang', null, undefined])
    expect(nameFaults(name)).toEqual([])
})

test('names have no outer spaces and nothing that cannot be seen', () => {
  const fits = Compile(createOperator.body as NonNullable<typeof createOperator.body>)
  const isName = (name: string) => fits.Check({ name, role: 'viewer' })
  for (const name of ['a', 'Wang Fang', '王芳', 'José', 'o’Neill-Łuksza 2', 'wang@example.com', '𠮷野']) {
    expect([name, isName(name)]).toEqual([name, true])
  }
  const hidden = [
    ...['\u200b', '\u200d', '\u202e', '\u2066', '\ufeff', '\u00ad', '\u3164', '\u115f', '\u2800', '\ufe0f', '\u034f'],
    '\u{e0041}',
  ]
  const spaces = ['\u00a0', '\u3000', '\u2028', '\t', '\n']
  for (const sign of [...hidden, ...spaces]) {
    for (const name of [`wa${sign}ng`, `${sign}wang`, `wang${sign}`, sign]) {
      expect([JSON.stringify(name), isName(name)]).toEqual([JSON.stringify(name), false])
    }
  }
  for (const name of [' wang', 'wang ', 'wang  fang', ' ', '', 'x'.repeat(65)]) {
    expect([name, isName(name)]).toEqual([name, false])
  }
})
