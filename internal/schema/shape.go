package schema

// A shape is the form that the value of a keyword must have in a valid schema.
type shape uint8

// The shapes. shapeAny is for keywords that do not restrict values.
const (
	shapeAny shape = iota
	shapeSchema
	shapeSchemaOrBool // in draft 4, which has no boolean schemas
	shapeSchemaOrList
	shapeSchemaList
	shapeSchemasByName
	shapeSchemasByPattern
	shapeDependencies
	shapeTypes
	shapeEnum
	shapeCount
	shapeNumber
	shapePositive
	shapeBool
	shapeExclusive // true or false, in draft 4
	shapeString
	shapePattern
	shapeAddress
	shapeReference
	shapeID
	shapeAnchor
	shapeStrings
	shapeStringsByName
	shapeList
	shapeVocabulary
)

// shapeOf returns the shape of a keyword in a draft.
func shapeOf(key string, d draft) shape {
	since := func(first draft, s shape) shape {
		if d < first {
			return shapeAny
		}
		return s
	}
	switch key {
	case "not":
		return shapeSchema
	case "contains", "propertyNames":
		return since(draft6, shapeSchema)
	case "if", "then", "else":
		return since(draft7, shapeSchema)
	case "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return since(draft2019, shapeSchema)
	case "items":
		if d >= draft2020 {
			return shapeSchema
		}
		return shapeSchemaOrList
	case "additionalItems", "additionalProperties":
		switch {
		case d == draft4:
			return shapeSchemaOrBool
		case d >= draft2020 && key == "additionalItems":
			return shapeAny
		}
		return shapeSchema
	case "allOf", "anyOf", "oneOf":
		return shapeSchemaList
	case "prefixItems":
		return since(draft2020, shapeSchemaList)
	case "properties", "definitions":
		return shapeSchemasByName
	case "$defs", "dependentSchemas":
		return since(draft2019, shapeSchemasByName)
	case "patternProperties":
		return shapeSchemasByPattern
	case "dependencies":
		return shapeDependencies
	case "type":
		return shapeTypes
	case "enum":
		return shapeEnum
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return shapeCount
	case "minContains", "maxContains":
		return since(draft2019, shapeCount)
	case "minimum", "maximum":
		return shapeNumber
	case "multipleOf":
		return shapePositive
	case "exclusiveMinimum", "exclusiveMaximum":
		if d == draft4 {
			return shapeExclusive
		}
		return shapeNumber
	}
	return shapeOfWord(key, d, since)
}

// shapeOfWord is the part of shapeOf for keywords whose values are not schemas.
func shapeOfWord(key string, d draft, since func(draft, shape) shape) shape {
	switch key {
	case "uniqueItems":
		return shapeBool
	case "readOnly", "writeOnly":
		return since(draft7, shapeBool)
	case "deprecated":
		return since(draft2019, shapeBool)
	case "title", "description", "format":
		return shapeString
	case "$comment", "contentMediaType", "contentEncoding":
		return since(draft7, shapeString)
	case "pattern":
		return shapePattern
	case "required":
		return shapeStrings
	case "dependentRequired":
		return since(draft2019, shapeStringsByName)
	case "examples":
		return since(draft7, shapeList)
	case "$schema":
		return shapeAddress
	case "$ref":
		if d == draft4 {
			return shapeString
		}
		return shapeReference
	case "$recursiveRef":
		return since(draft2019, shapeReference)
	case "$dynamicRef":
		return since(draft2020, shapeReference)
	case "id":
		if d == draft4 {
			return shapeString
		}
	case "$id":
		if d >= draft2019 {
			return shapeID
		}
		return since(draft6, shapeReference)
	case "$anchor":
		return since(draft2019, shapeAnchor)
	case "$dynamicAnchor":
		return since(draft2020, shapeAnchor)
	case "$recursiveAnchor":
		if d == draft2019 {
			return shapeBool
		}
		return since(draft2020, shapeAnchor)
	case "$vocabulary":
		return since(draft2019, shapeVocabulary)
	}
	return shapeAny
}
