import { defineTexts } from '../language/index.ts'

export const useTexts = defineTexts(
  {
    division: 'Province, city, district',
    choose: 'Search by Chinese name or code',
    byHand: 'Enter codes and names',
    fromTable: 'Choose from the region table',
    notInTable: 'These codes and names don’t exactly match the region table. They’re saved as entered.',
    noDistrict: 'The region table has no districts here. Enter a code and name.',
    tableFailed: 'Couldn’t load the region table. Enter codes and names instead.',
    provinceCode: 'Province code',
    provinceName: 'Province name',
    cityCode: 'City code',
    cityName: 'City name',
    districtCode: 'District code',
    districtName: 'District name',
  },
  {
    division: '省市区',
    choose: '按名称或代码查找',
    byHand: '手动填写代码和名称',
    fromTable: '从行政区划表选择',
    notInTable: '行政区划表中没有与此完全一致的代码和名称，将原样保留。',
    noDistrict: '行政区划表中此处没有区县，请填写其代码和名称。',
    tableFailed: '无法读取行政区划表，可手动填写代码和名称。',
    provinceCode: '省份代码',
    provinceName: '省份名称',
    cityCode: '城市代码',
    cityName: '城市名称',
    districtCode: '区县代码',
    districtName: '区县名称',
  },
)
