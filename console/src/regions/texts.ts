import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts({
  division: ['Province, city, district', '省市区'],
  choose: ['Search by Chinese name or code', '按名称或代码查找'],
  byHand: ['Enter codes and names', '手动填写代码和名称'],
  fromTable: ['Choose from the region table', '从行政区划表选择'],
  notInTable: [
    'These codes and names don’t exactly match the region table. They’re saved as entered.',
    '行政区划表中没有与此完全一致的代码和名称，将原样保留。',
  ],
  noDistrict: [
    'The region table has no districts here. Enter a code and name.',
    '行政区划表中此处没有区县，请填写其代码和名称。',
  ],
  tableFailed: [
    'Couldn’t load the region table. Enter codes and names instead.',
    '无法读取行政区划表，可手动填写代码和名称。',
  ],
  provinceCode: ['Province code', '省份代码'],
  provinceName: ['Province name', '省份名称'],
  cityCode: ['City code', '城市代码'],
  cityName: ['City name', '城市名称'],
  districtCode: ['District code', '区县代码'],
  districtName: ['District name', '区县名称'],
})
